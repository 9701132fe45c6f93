import { clientCommand, exitCodes } from './command.ts';
import { readRunId } from './refusal.ts';
import { formatJson, printable } from './text.ts';

export default clientCommand({
  name: 'cancel',
  describe: 'Cancel a run that is queued or processing',
  positionals: [{ name: 'id', describe: 'Id of the run, run_…', required: true }],
  async run({ client, positionals, signal, has, print }) {
    const reply = await client.cancel(readRunId(positionals[0]), { signal });
    print(has('json') ? formatJson(reply) : printable(reply.message));
    return exitCodes.done;
  },
});
