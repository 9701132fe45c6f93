/** What a piece of JSON text is. `end` comes once, after the last token. */
export type JsonTokenKind = '{' | '}' | '[' | ']' | ':' | ',' | 'string' | 'number' | 'word' | 'end';

export interface JsonToken {
  kind: JsonTokenKind;
  /** As it is written, quotes and escapes included. */
  text: string;
  /** Where it starts, in UTF-16 units. */
  at: number;
}

/** A mistake in JSON text: a sentence part, and where it is. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly at: number;
  constructor(problem: string, at: number) {
    super(problem);
    this.at = at;
  }
}

/** One-based. Columns count characters as an editor does. */
export function positionOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const line = before.split(/\r\n|\n|\r/);
  return { line: line.length, column: [...(line.at(-1) ?? '')].length + 1 };
}

const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /true|false|null/y;

const relaxedSpace = /[\s\uFEFF]*/y;
const relaxedNumber =
  /[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const relaxedWord =
  /(?:[\p{L}\p{Nl}$_]|\\u[0-9a-fA-F]{4})(?:[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$\u200c\u200d]|\\u[0-9a-fA-F]{4})*/uy;

const grammars = {
  json: { space, number, word },
  json5: { space: relaxedSpace, number: relaxedNumber, word: relaxedWord },
};
export type JsonDialect = keyof typeof grammars;

const backslash = 0x5c;
const punctuation = new Set(['{', '}', '[', ']', ':', ',']);

/** Cuts JSON text into tokens; nothing is converted, so nothing is lost. */
export class JsonScanner {
  readonly #text: string;
  readonly #relaxed: boolean;
  readonly #grammar: (typeof grammars)[JsonDialect];
  #at = 0;

  constructor(text: string, dialect: JsonDialect = 'json') {
    this.#text = text;
    this.#relaxed = dialect === 'json5';
    this.#grammar = grammars[dialect];
  }

  /** @throws JsonSyntaxError */
  next(): JsonToken {
    this.#skipSpace();
    const at = this.#at;
    const character = this.#text[at];
    if (character === undefined) return { kind: 'end', text: '', at };
    if (punctuation.has(character)) return this.#take(character as JsonTokenKind, character);
    if (character === '"' || (character === "'" && this.#relaxed)) {
      return this.#take('string', this.#text.slice(at, this.#stringEnd(character)));
    }
    if (character === "'") throw new JsonSyntaxError('a text must stand in double quotes', at);
    const digits = this.#match(this.#grammar.number);
    const letters = this.#match(this.#grammar.word);
    const kind = digits.length >= letters.length ? 'number' : 'word';
    const found = kind === 'number' ? digits : letters;
    // What runs on is one wrong token, not a right one and a rest: `01`, `1.`, `truex`.
    const rest = /[\p{L}\p{N}_.+$-]*/uy;
    rest.lastIndex = at + found.length;
    const after = rest.exec(this.#text)?.[0] ?? '';
    if (found === '' || after !== '') {
      throw new JsonSyntaxError(`unexpected ${quoted(found + after || character)}`, at);
    }
    return this.#take(kind, found);
  }

  #take(kind: JsonTokenKind, text: string): JsonToken {
    const token = { kind, text, at: this.#at };
    this.#at += text.length;
    return token;
  }

  #skipSpace(): void {
    this.#at += this.#match(this.#grammar.space).length;
    while (this.#relaxed && this.#text[this.#at] === '/') {
      this.#at = this.#commentEnd();
      this.#at += this.#match(this.#grammar.space).length;
    }
  }

  #commentEnd(): number {
    const block = this.#text[this.#at + 1] === '*';
    if (!block && this.#text[this.#at + 1] !== '/') throw new JsonSyntaxError('unexpected "/"', this.#at);
    const end = this.#text.indexOf(block ? '*/' : '\n', this.#at + 2);
    if (end >= 0) return block ? end + 2 : end;
    if (block) throw new JsonSyntaxError('a comment is opened and never closed', this.#at);
    return this.#text.length;
  }

  /** A loop, because a pattern that allows escapes runs out of stack on a text of many megabytes. */
  #stringEnd(quote: string): number {
    const end = quote.charCodeAt(0);
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === end) return at + 1;
      if (code === backslash) {
        if (!this.#relaxed && !this.#isEscape(at)) throw new JsonSyntaxError('a text has a wrong escape in it', at);
        if (this.#text[at + 1] === '\r' && this.#text[at + 2] === '\n') at++;
        at++;
      } else if (code === 0x0a || code === 0x0d) break;
      else if (code < 0x20 && !this.#relaxed) {
        throw new JsonSyntaxError('a text has a control character in it that is not escaped', at);
      }
    }
    throw new JsonSyntaxError('a text is opened and not closed on its line', this.#at);
  }

  #isEscape(at: number): boolean {
    const letter = this.#text[at + 1] ?? '';
    if (letter === 'u') return /^[0-9a-fA-F]{4}$/.test(this.#text.slice(at + 2, at + 6));
    return letter !== '' && '"\\/bfnrt'.includes(letter);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }
}

function quoted(text: string): string {
  return `"${text.length > 20 ? `${text.slice(0, 20)}…` : text}"`;
}
