import { type Program, programOf, type Step } from './pattern-program.ts';

//  Regular expressions in linear time. JavaScript's own engine backtracks, which for
//  (?:a+)+$ takes exponential time. This one backtracks in the same order, so it finds the same matches; but it
//  remembers failures, so that nothing fails twice (memoised backtracking).

/** The interface of a pattern with the flags "gu" that the library uses: methods of String call these symbols. */
export class LinearPattern {
  readonly flags = 'gu';
  private readonly program: Program;

  /** @throws SyntaxError */
  constructor(source: string) {
    this.program = programOf(source);
  }

  /** All non-overlapping matches in order. */
  *matches(text: string): Generator<{ readonly 0: string; readonly index: number }> {
    const search = searchOf(this.program, text);
    for (let from = 0; from <= text.length; ) {
      const end = search(from);
      if (end !== null) yield { 0: text.slice(from, end), index: from };
      from = end !== null && end > from ? end : from + widthAt(text, from);
    }
  }

  [Symbol.match](text: string): string[] | null {
    const found = Array.from(this.matches(text), (match) => match[0]);
    return found.length > 0 ? found : null;
  }

  [Symbol.matchAll](text: string) {
    return this.matches(text);
  }

  [Symbol.split](text: string): string[] {
    const parts: string[] = [];
    let from = 0;
    for (const { 0: found, index } of this.matches(text)) {
      parts.push(text.slice(from, index));
      from = index + found.length;
    }
    return [...parts, text.slice(from)];
  }
}

const widthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** Memory limit for failures; no known pattern comes near, even with megabytes of text. */
const MAX_BITS = 2 ** 30;

/** Returns the end of the match that starts at a position, or null. Call with ascending positions. */
function searchOf({ steps, splits, looks }: Program, text: string): (from: number) => number | null {
  const places = text.length + 1;
  if (splits * places > MAX_BITS) throw new RangeError(`a pattern of ${splits} branches for ${text.length} characters`);
  /** Branches that have failed or are being tried: one met again at the same position has consumed nothing since. */
  const failed = new Int32Array(Math.ceil((splits * places) / 32));
  /** Branches that have matched in lookarounds, where only success matters. */
  const won = looks > 0 ? new Int32Array(failed.length) : failed;
  /** Results of lookarounds: 1 or -1. */
  const seen = Array.from({ length: looks }, () => new Int8Array(places));

  /** Runs from a step. Open branches: the position and the alternative step, or ~step for one that has failed by then. */
  function run(start: number, from: number, looking: boolean): number | null {
    const open: number[] = [];
    let step = start;
    let place = from;
    for (;;) {
      const next = follow(steps[step], step, place, looking, open);
      if (next === MATCHED) {
        // The branches that led here have not failed.
        for (let i = 0; i < open.length; i += 2) {
          const branch = open[i] ?? 0;
          if (branch >= 0) continue;
          mark(failed, ~branch, open[i + 1] ?? 0, false);
          if (looking) mark(won, ~branch, open[i + 1] ?? 0, true);
        }
        return place;
      }
      if (next !== FAILED) {
        step = next;
        place = moved;
        continue;
      }
      for (;;) {
        if (open.length === 0) return null;
        place = open.pop() ?? 0;
        step = open.pop() ?? 0;
        if (step >= 0) break;
      }
    }
  }

  /** The position after the last step. */
  let moved = 0;

  function follow(step: Step | undefined, number: number, place: number, looking: boolean, open: number[]): number {
    moved = place;
    switch (step?.kind) {
      case 'character':
        return character(step, place) ? number + 1 : FAILED;
      case 'jump':
        return step.to;
      case 'split':
        if (looking && isMarked(won, step.number, place)) return MATCHED;
        if (isMarked(failed, step.number, place)) return FAILED;
        mark(failed, step.number, place, true);
        open.push(~step.number, place, step.second, place);
        return step.first;
      case 'look':
        return looked(step.number, number + 1, place) === step.wanted ? step.after : FAILED;
      default:
        return MATCHED;
    }
  }

  function character({ set, back }: Extract<Step, { kind: 'character' }>, place: number): boolean {
    if (back) {
      if (place === 0) return false;
      const low = text.charCodeAt(place - 1);
      const paired = low >= 0xdc00 && low <= 0xdfff && place > 1 && (text.codePointAt(place - 2) ?? 0) > 0xffff;
      moved = place - (paired ? 2 : 1);
      return set(paired ? (text.codePointAt(moved) ?? 0) : low);
    }
    const codePoint = text.codePointAt(place);
    if (codePoint === undefined) return false;
    moved = place + (codePoint > 0xffff ? 2 : 1);
    return set(codePoint);
  }

  function looked(number: number, start: number, place: number): boolean {
    const known = seen[number];
    if (!known) return false;
    known[place] ||= run(start, place, true) === null ? -1 : 1;
    moved = place;
    return known[place] === 1;
  }

  const isMarked = (marks: Int32Array, split: number, place: number): boolean => {
    const bit = split * places + place;
    return ((marks[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
  };
  const mark = (marks: Int32Array, split: number, place: number, on: boolean): void => {
    const bit = split * places + place;
    const word = marks[bit >>> 5] ?? 0;
    marks[bit >>> 5] = on ? word | (1 << (bit & 31)) : word & ~(1 << (bit & 31));
  };

  return (from) => run(0, from, false);
}

const FAILED = -1;
const MATCHED = -2;
