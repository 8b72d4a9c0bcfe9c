//  Compiles a JavaScript regular expression (flags "gu", as in tokenizers) to a program for linear-pattern.ts. Excludes only
//  what cannot be matched in linear time: back-references. Supports everything else the language has under these
//  flags: alternatives, groups, greedy and lazy repetition, lookahead and lookbehind, classes.

export type Step =
  /** Matches one character of a set, forwards or backwards. */
  | { readonly kind: 'character'; readonly set: CharacterSet; readonly back: boolean }
  /** Continues at `first`, and if that fails at `second`. `number`: index among these steps. */
  | { kind: 'split'; first: number; second: number; readonly number: number }
  | { kind: 'jump'; to: number }
  /** A lookaround: whether the program at the next step matches here. `number`: index among these steps. */
  | { kind: 'look'; readonly wanted: boolean; after: number; readonly number: number }
  | { readonly kind: 'matched' };

export type Program = { readonly steps: readonly Step[]; readonly splits: number; readonly looks: number };
export type CharacterSet = (codePoint: number) => boolean;

/** The longest pattern of a known tokenizer has 60 steps; counted repetition is unrolled. */
const MAX_STEPS = 2000;
const MAX_DEPTH = 50;

type Node =
  | { readonly is: 'set'; readonly set: CharacterSet }
  | { readonly is: 'row' | 'choice'; readonly of: readonly Node[] }
  | { readonly is: 'repeat'; readonly of: Node; readonly least: number; readonly most: number; readonly lazy: boolean }
  | { readonly is: 'look'; readonly of: Node; readonly wanted: boolean; readonly back: boolean };

/** @throws SyntaxError for invalid or unsupported patterns */
export function programOf(source: string): Program {
  const steps: Step[] = [];
  let splits = 0;
  let looks = 0;
  const add = <One extends Step>(step: One): One => {
    if (steps.length >= MAX_STEPS) throw new SyntaxError(`a pattern of more than ${MAX_STEPS} steps`);
    steps.push(step);
    return step;
  };
  const split = () => add({ kind: 'split', first: steps.length + 1, second: 0, number: splits++ });

  function write(node: Node, back: boolean): void {
    switch (node.is) {
      case 'set':
        add({ kind: 'character', set: node.set, back });
        return;
      case 'row':
        for (const part of back ? node.of.toReversed() : node.of) write(part, back);
        return;
      case 'choice':
        choose(node.of, back);
        return;
      case 'repeat':
        repeat(node, back);
        return;
      case 'look': {
        const look = add({ kind: 'look', wanted: node.wanted, after: 0, number: looks++ });
        write(node.of, node.back);
        add({ kind: 'matched' });
        look.after = steps.length;
      }
    }
  }

  function choose(choices: readonly Node[], back: boolean): void {
    const ends: { to: number }[] = [];
    for (const [i, choice] of choices.entries()) {
      const either = i < choices.length - 1 ? split() : null;
      write(choice, back);
      if (!either) break;
      ends.push(add({ kind: 'jump', to: 0 }));
      either.second = steps.length;
    }
    for (const end of ends) end.to = steps.length;
  }

  function repeat({ of, least, most, lazy }: Extract<Node, { is: 'repeat' }>, back: boolean): void {
    const ordered = (either: ReturnType<typeof split>, after: number) => {
      const inside = either.first;
      either.first = lazy ? after : inside;
      either.second = lazy ? inside : after;
    };
    for (let i = 0; i < least; ++i) write(of, back);
    if (most === Number.POSITIVE_INFINITY) {
      const begin = steps.length;
      const either = split();
      write(of, back);
      add({ kind: 'jump', to: begin });
      ordered(either, steps.length);
      return;
    }
    const open: ReturnType<typeof split>[] = [];
    for (let i = least; i < most; ++i) {
      open.push(split());
      write(of, back);
    }
    for (const either of open) ordered(either, steps.length);
  }

  write(parse(source), false);
  add({ kind: 'matched' });
  return { steps, splits, looks };
}

function parse(source: string): Node {
  let at = 0;
  let depth = 0;
  const refuse = (what: string): never => {
    throw new SyntaxError(`${what} at character ${at} of a pattern`);
  };
  /** Consumes a match of the sticky `pattern` here. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at += found[0].length;
    return found;
  };

  function choice(): Node {
    if (++depth > MAX_DEPTH) refuse(`more than ${MAX_DEPTH} groups in each other`);
    const of = [row()];
    while (source[at] === '|') {
      at++;
      of.push(row());
    }
    depth--;
    return of.length === 1 && of[0] ? of[0] : { is: 'choice', of };
  }

  function row(): Node {
    const of: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') of.push(repeated(atom()));
    return { is: 'row', of };
  }

  function repeated(of: Node): Node {
    const found = take(/(?:[*+?]|\{(\d+)(,(\d*))?\})(\??)/y);
    if (!found) return of;
    const [whole, least, more, most, lazy] = found;
    const range = {
      '*': [0, Number.POSITIVE_INFINITY],
      '+': [1, Number.POSITIVE_INFINITY],
      '?': [0, 1],
    }[whole[0] ?? ''] ?? [
      Number(least),
      more === undefined ? Number(least) : most ? Number(most) : Number.POSITIVE_INFINITY,
    ];
    const [from = 0, to = 0] = range;
    if (from > to) refuse('a repetition from more to less');
    // Engines differ here, and no tokenizer needs it.
    if (to > from && mayBeEmpty(of)) refuse('a repetition of what may be nothing');
    return { is: 'repeat', of, least: from, most: to, lazy: lazy === '?' };
  }

  function atom(): Node {
    const group = take(/\((?:\?(?:<?[=!]|:|<[\p{ID_Start}$_][\p{ID_Continue}$]*>))?/uy);
    if (group) {
      const of = choice();
      if (source[at] !== ')') refuse('a group without an end');
      at++;
      const [, kind] = /^\(\?(<?[=!])/.exec(group[0]) ?? [];
      return kind ? { is: 'look', of, wanted: kind.endsWith('='), back: kind.startsWith('<') } : of;
    }
    const known = take(CLASS) ?? take(ESCAPE) ?? take(PLAIN);
    return known ? { is: 'set', set: setOf(known[0]) } : refuse(`an unknown sign ${JSON.stringify(source[at])}`);
  }

  const whole = choice();
  if (at < source.length) refuse('an end without a group');
  return whole;
}

function mayBeEmpty(node: Node): boolean {
  if (node.is === 'set') return false;
  if (node.is === 'look') return true;
  if (node.is === 'repeat') return node.least === 0 || mayBeEmpty(node.of);
  return node.is === 'row' ? node.of.every(mayBeEmpty) : node.of.some(mayBeEmpty);
}

const CLASS = /\[\^?(?:\\.|[^\]\\])*\]/suy;
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[dDsSwWtnvfr0]|[\^$\\.*+?()[\]{}|/])/uy;
const PLAIN = /[^^$\\.*+?()[\]{}|]/uy;

/** Tests single characters with JavaScript's engine, with a cache. */
function setOf(source: string): CharacterSet {
  const pattern = new RegExp(`^${source}$`, 'u');
  const low = new Int8Array(256);
  const high = new Map<number, boolean>();
  const ask = (codePoint: number) => pattern.test(String.fromCodePoint(codePoint));
  return (codePoint) => {
    if (codePoint < 256) {
      low[codePoint] ||= ask(codePoint) ? 1 : -1;
      return low[codePoint] === 1;
    }
    let known = high.get(codePoint);
    if (known === undefined) {
      known = ask(codePoint);
      high.set(codePoint, known);
    }
    return known;
  };
}
