/** Characters of one message; a done run with a thousand outputs takes about half a million. */
const longestMessage = 16_000_000;

export interface ServerEvent {
  data: string;
  /** The last `id` so far, which goes into `Last-Event-ID`. */
  id: string;
}

export interface EventParser {
  /** Takes the next piece of the stream, cut anywhere, and gives the events that it completes. */
  push(text: string): ServerEvent[];
  /** What the stream asked for as the time before connecting again, in milliseconds. */
  readonly retryMs: number | undefined;
}

/**
 * Reads `text/event-stream` as the HTML standard says (section 9.2.6): line ends of all three kinds, comments and unknown
 * fields passed over. An event that the end of the stream cut off is dropped.
 *
 * @throws RangeError when a message grows beyond any that the service sends.
 */
export function createEventParser(): EventParser {
  let rest = '';
  let data: string[] = [];
  let size = 0;
  let id = '';
  let retryMs: number | undefined;

  function readField(name: string, value: string): void {
    if (name === 'data') {
      data.push(value);
      size += value.length;
    } else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
  }

  function readLine(line: string): ServerEvent | undefined {
    if (line === '') {
      const event = data.length === 0 ? undefined : { data: data.join('\n'), id };
      data = [];
      size = 0;
      return event;
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name !== '') readField(name, value);
    return undefined;
  }

  return {
    get retryMs() {
      return retryMs;
    },
    push(text) {
      rest += text;
      // A carriage return at the very end may be half a line end: the next piece tells.
      const complete = rest.endsWith('\r') ? rest.length - 1 : rest.length;
      const lines = rest.slice(0, complete).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? '') + rest.slice(complete);
      if (rest.length + size > longestMessage) throw new RangeError('The stream has a message that is too long.');
      return lines.map(readLine).filter((event) => event !== undefined);
    },
  };
}
