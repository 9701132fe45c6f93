/** A command that cannot be carried out as it was given; the message is one sentence for the person. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** @throws Refusal for what cannot be an id, and would lead to another address. */
export function readRunId(text: string | undefined): string {
  if (text === undefined || !/^\w+$/.test(text))
    throw new Refusal(`"${text}" is not the id of a run; see: millrun runs`);
  return text;
}

/** @throws Refusal */
export function readSlug(text: string | undefined): string {
  if (text === undefined || !/^[\w-]+$/.test(text))
    throw new Refusal(`"${text}" is not the slug of a tool; see: millrun tools`);
  return text;
}
