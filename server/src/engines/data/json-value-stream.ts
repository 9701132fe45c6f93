import { JsonSyntaxError } from './json-scanner.ts';

const maxValueLength = 16 * 1024 * 1024;
const [quote, backslash, open, openList, close, closeList, comma] = Buffer.from('"\\{[}],');

/** Reads JSON text that does not fit in memory: cuts out the values at one place, each as text for a parser. */
export class JsonValueStream {
  readonly #pieces: AsyncIterator<string>;
  readonly #recordPerDocument: boolean;
  #text = '';
  #at = 0;
  #ended = false;
  /** Line breaks before `#countedTo`, a place in `#text`. */
  #lines = 0;
  #countedTo = 0;
  /** Lines before the value handed out last. */
  #valueLine = 0;
  /** The path led to something, be it an empty array. */
  reached = false;
  /** A value was longer than 16 MB: reading stopped there. */
  tooLong = false;

  /** `lines` says that every document is a record of its own (NDJSON), be it an array. */
  constructor(pieces: AsyncGenerator<string>, lines = false) {
    this.#recordPerDocument = lines;
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Where the value handed out last, or the mistake after it, is: one-based. */
  get line(): number {
    return this.#valueLine + 1;
  }

  /**
   * The elements of the array that `keys` lead to, or the one value there that is no array, of every document
   * in the text.
   *
   * @throws JsonSyntaxError for what is between the values; what is in them is the caller's to parse.
   */
  async *values(keys: readonly string[]): AsyncGenerator<string> {
    let first = await this.#peek();
    if (first === '') throw new JsonSyntaxError('nothing is in it', 0);
    while (first !== '' && !this.tooLong) {
      yield* this.#descend(keys);
      first = await this.#peek();
    }
  }

  async *#descend(keys: readonly string[]): AsyncGenerator<string> {
    const [key, ...rest] = keys;
    const first = await this.#peek();
    if (key === undefined) {
      this.reached = true;
      if (first === '[' && !this.#recordPerDocument) yield* this.#elements();
      else yield await this.#value(true);
      return;
    }
    if (first !== '{') {
      await this.#value(false);
      return;
    }
    this.#at++;
    for (let next = await this.#peek(); next !== '}'; next = await this.#separator('}')) {
      const name = JSON.parse(await this.#key()) as string;
      if (name === key) yield* this.#descend(rest);
      else await this.#value(false);
      if (this.tooLong) return;
    }
    this.#at++;
  }

  async *#elements(): AsyncGenerator<string> {
    this.#at++;
    for (let next = await this.#peek(); next !== ']'; next = await this.#separator(']')) {
      const text = await this.#value(true);
      if (this.tooLong) return;
      yield text;
    }
    this.#at++;
  }

  /** Steps over a comma; returns what follows, `end` when the list is over. */
  async #separator(end: string): Promise<string> {
    const next = await this.#peek();
    if (next === end) return next;
    if (next !== ',') throw this.#wrong(next, `a comma or "${end}"`);
    this.#at++;
    const following = await this.#peek();
    if (following === end) throw this.#wrong(following, 'a value');
    return following;
  }

  async #key(): Promise<string> {
    const next = await this.#peek();
    if (next !== '"') throw this.#wrong(next, 'a key in double quotes');
    const text = await this.#value(true);
    const colon = await this.#peek();
    if (colon !== ':') throw this.#wrong(colon, 'a colon');
    this.#at++;
    try {
      JSON.parse(text);
      return text;
    } catch {
      throw this.#wrong(text, 'a key');
    }
  }

  #wrong(found: string, wanted: string): JsonSyntaxError {
    this.#valueLine = this.#linesRead();
    return new JsonSyntaxError(`${found === '' ? 'the file ends' : `${found} stands`} where ${wanted} is expected`, 0);
  }

  #linesRead(): number {
    for (let at = this.#text.indexOf('\n', this.#countedTo); at >= 0 && at < this.#at;) {
      this.#lines++;
      at = this.#text.indexOf('\n', at + 1);
    }
    this.#countedTo = this.#at;
    return this.#lines;
  }

  /** The next character that is not white space; empty at the end. */
  async #peek(): Promise<string> {
    for (;;) {
      while (this.#at < this.#text.length) {
        const character = this.#text[this.#at] ?? '';
        if (character !== ' ' && character !== '\n' && character !== '\r' && character !== '\t') return character;
        this.#at++;
      }
      if (!(await this.#more())) return '';
    }
  }

  /** Drops what was read and appends the next piece; false at the end of the file. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    const { value, done } = (await this.#pieces.next()) as { value: string | undefined; done?: boolean };
    if (done === true || value === undefined) {
      this.#ended = true;
      return false;
    }
    this.#linesRead();
    this.#countedTo = 0;
    this.#text = this.#text.slice(this.#at) + value;
    this.#at = 0;
    return true;
  }

  /** Steps over one value; returns its text when it is wanted. */
  async #value(wanted: boolean): Promise<string> {
    const first = await this.#peek();
    if (first === '' || first === ']' || first === '}' || first === ',' || first === ':') {
      throw this.#wrong(first, 'a value');
    }
    this.#valueLine = this.#linesRead();
    const kept: string[] = [];
    let length = 0;
    const state = { depth: 0, inString: false, escaped: false, started: false };
    for (;;) {
      const start = this.#at;
      const complete = this.#scan(state);
      length += this.#at - start;
      if (wanted) kept.push(this.#text.slice(start, this.#at));
      if (wanted && length > maxValueLength) {
        this.tooLong = true;
        return '';
      }
      if (complete) return kept.join('');
      if (await this.#more()) continue;
      // A number or a word may end with the file; everything else is cut short, which the parser says better.
      if (state.depth > 0 || state.inString) throw this.#wrong('', 'a value goes on');
      return kept.join('');
    }
  }

  /** Advances to the end of the value or of the text; true when the value is complete. */
  #scan(state: { depth: number; inString: boolean; escaped: boolean; started: boolean }): boolean {
    const text = this.#text;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (state.escaped) state.escaped = false;
      else if (state.inString) {
        if (code === backslash) state.escaped = true;
        else if (code === quote) {
          state.inString = false;
          if (state.depth === 0) {
            this.#at++;
            return true;
          }
        }
      } else if (code === quote) {
        if (state.started && state.depth === 0) return true;
        state.inString = true;
      } else if (code === open || code === openList) {
        if (state.started && state.depth === 0) return true;
        state.depth++;
      } else if (code === close || code === closeList) {
        if (state.depth === 0) return true;
        state.depth--;
        if (state.depth === 0) {
          this.#at++;
          return true;
        }
      } else if (state.depth === 0 && (code === comma || code <= 0x20)) return true;
      state.started = true;
    }
    return false;
  }
}
