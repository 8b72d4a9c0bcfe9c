import type { ParsedCall } from './call-formats.ts';

//  Calls as Python writes them: [name(key="value", other=[1, 2]), …], or one call without the list. Literals only: nothing is
//  evaluated. https://docs.python.org/3/reference/lexical_analysis.html#literals

/** Keys of a tool's parameters in their order, for arguments without a name. */
export type ParameterNames = (tool: string) => readonly string[];

const MAX_DEPTH = 64;

/** null: not a list of calls. */
export function pythonCalls(text: string, namesOf: ParameterNames): ParsedCall[] | null {
  try {
    return new Reader(text, namesOf).calls();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  readonly #namesOf: ParameterNames;
  #at = 0;

  constructor(text: string, namesOf: ParameterNames) {
    this.#text = text;
    this.#namesOf = namesOf;
  }

  calls(): ParsedCall[] {
    const calls: ParsedCall[] = [];
    const listed = this.#take('[');
    do {
      if (listed && this.#sees(']') && calls.length > 0) break;
      calls.push(this.#call());
    } while (this.#take(','));
    if (listed) this.#need(']');
    this.#blank();
    if (this.#at < this.#text.length) throw new SyntaxError('more than calls');
    return calls;
  }

  #call(): ParsedCall {
    const name = this.#name(/[\p{L}_][\p{L}\p{N}_.-]*/uy);
    const names = this.#namesOf(name);
    const given: Record<string, unknown> = Object.create(null);
    this.#need('(');
    for (let position = 0; !this.#take(')'); position++) {
      const key = this.#keyword() ?? names[position];
      if (key === undefined) throw new SyntaxError('an argument without a name');
      given[key] = this.#value(0);
      if (!this.#sees(')')) this.#need(',');
    }
    return { name, arguments: { ...given } };
  }

  #keyword(): string | null {
    this.#blank();
    const found = /([\p{L}_][\p{L}\p{N}_]*)\s*=(?!=)/uy;
    found.lastIndex = this.#at;
    const match = found.exec(this.#text);
    if (!match) return null;
    this.#at = found.lastIndex;
    return match[1] ?? null;
  }

  #value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new SyntaxError('too deep');
    this.#blank();
    const next = this.#text[this.#at];
    if (next === '[') return this.#items('[', ']', depth);
    if (next === '(') return this.#items('(', ')', depth);
    if (next === '{') return this.#dictionary(depth);
    if (next === '"' || next === "'") return this.#string();
    const word = this.#name(/[\w.+-]+/y);
    if (word in WORDS) return WORDS[word as keyof typeof WORDS];
    const number = /^[+-]?(\d[\d_]*)?(\.\d*)?([eE][+-]?\d+)?$/.test(word) ? Number(word.replace(/_/g, '')) : Number.NaN;
    if (!Number.isFinite(number)) throw new SyntaxError('no literal');
    return number;
  }

  #items(open: string, close: string, depth: number): unknown[] {
    const items: unknown[] = [];
    this.#need(open);
    while (!this.#take(close)) {
      items.push(this.#value(depth + 1));
      if (!this.#sees(close)) this.#need(',');
    }
    return items;
  }

  #dictionary(depth: number): object {
    const entries: [string, unknown][] = [];
    this.#need('{');
    while (!this.#take('}')) {
      const key = this.#value(depth + 1);
      if (typeof key === 'object') throw new SyntaxError('a key that is no word');
      this.#need(':');
      entries.push([String(key), this.#value(depth + 1)]);
      if (!this.#sees('}')) this.#need(',');
    }
    return Object.fromEntries(entries);
  }

  #string(): string {
    const triple = /("""|''')/y;
    triple.lastIndex = this.#at;
    const quote = triple.exec(this.#text)?.[0] ?? this.#text[this.#at] ?? '';
    let value = '';
    for (this.#at += quote.length; !this.#text.startsWith(quote, this.#at); ) {
      const next = this.#text[this.#at];
      if (next === undefined) throw new SyntaxError('a string without an end');
      if (next === '\\') value += this.#escaped();
      else {
        value += next;
        this.#at++;
      }
    }
    this.#at += quote.length;
    return value;
  }

  #escaped(): string {
    const code = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/y;
    code.lastIndex = this.#at;
    const [whole, ...hex] = code.exec(this.#text) ?? [];
    if (whole !== undefined) {
      this.#at += whole.length;
      return String.fromCodePoint(Math.min(Number.parseInt(hex.find((one) => one) ?? '0', 16), 0x10ffff));
    }
    const next = this.#text[this.#at + 1];
    if (next === undefined) throw new SyntaxError('a string without an end');
    this.#at += 2;
    return ESCAPES[next] ?? `\\${next}`;
  }

  #name(pattern: RegExp): string {
    this.#blank();
    pattern.lastIndex = this.#at;
    const [name] = pattern.exec(this.#text) ?? [];
    if (name === undefined) throw new SyntaxError('no name');
    this.#at += name.length;
    return name;
  }

  #blank() {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #sees(sign: string): boolean {
    this.#blank();
    return this.#text[this.#at] === sign;
  }

  #take(sign: string): boolean {
    const found = this.#sees(sign);
    if (found) this.#at++;
    return found;
  }

  #need(sign: string) {
    if (!this.#take(sign)) throw new SyntaxError(`no ${sign}`);
  }
}

const WORDS = { True: true, False: false, None: null, true: true, false: false, null: null };

const ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
  '0': '\0',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};
