import { requestedLength } from './requested-length.ts';
import { symbolsIn } from './text-kind.ts';

//  Lists that go on counting with nothing left to say: "12. Dubai", "13. Sydney", "14. Dubai". The numbers differ, so nothing repeats
//  to the letter, and entries of one or two words are too short to be compared as sentences. What tells is that entry after
//  entry stood in the same list before.

export interface Entries {
  line: string;
  start: number;
  fenced: boolean;
  /** What each entry of this list says, and how often it was there. */
  readonly times: Map<string, number>;
  /** The number of the entry before; null: it had a dot or a dash. */
  number: number | null;
  /** The entry before is a heading: what stands below belongs to it. */
  titled: boolean;
  /** Entries that stood there before, almost in a row, how many of them carry a number that counts on, and where they began. */
  old: number;
  counted: number;
  first: number;
  /** Where the latest of them begin. */
  readonly starts: number[];
}

export interface Worn {
  /** Entries that stood there before, almost in a row. */
  readonly entries: number;
  readonly first: number;
  /** Tokens of the latest entry, and where the latest few begin. */
  readonly period: number;
  readonly latest: number;
  /** What it says, as it stands there and plain, and its words. */
  readonly text: string;
  readonly said: string;
  readonly words: number;
  /** Whether the list counts, and the number of this entry. */
  readonly counts: boolean;
  readonly number: number | null;
}

export const noEntries = (): Entries => ({
  line: '',
  start: -1,
  fenced: false,
  times: new Map(),
  number: null,
  titled: false,
  old: 0,
  counted: 0,
  first: 0,
  starts: [],
});

const MOST = 1 << 12;
const LONGEST = 400;
/** Entries that a new one takes back. */
const PROGRESS = 2;
/** Times that an entry without a number must have been there. */
const TWICE = 2;
/** Entries that are shown. */
const SHOWN = 5;
/** Share of them that a number must count. */
const COUNTING = 0.5;
const entry = /^[\s>]*(?:#{1,4}\s+)?(?:\*\*)?(?:(\d{1,5})[.):]|[-*•+]|\\item)(?:\*\*)?\s+(.*)$/su;
/** What somebody says: a name and a sentence. */
const speech = /^(?:\*\*)?\p{Lu}[\p{L} ._-]{0,24}:(?:\*\*)?:?\s+()(.{12,}[.!?…"”])\s*$/su;

/** Takes the text of token `at`. Returns the list that says nothing new, at the end of one of its entries. */
export function enter(entries: Entries, piece: string, at: number): Worn | null {
  if (entries.start < 0) entries.start = at;
  if (!piece.includes('\n')) {
    if (entries.line.length <= LONGEST) entries.line += piece;
    return null;
  }
  const lines = (entries.line + piece).split('\n');
  const { start } = entries;
  entries.line = lines.pop() ?? '';
  entries.start = entries.line === '' ? -1 : at;
  let worn: Worn | null = null;
  for (const line of lines) if (line.trim() !== '') worn = read(entries, line, start, at + 1);
  return worn;
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[*_`"“”\s]+/g, ' ')
    .replace(/^\W+|\W+$/gu, (marks) => (/\p{L}/u.test(marks) ? marks : ''));

function read(entries: Entries, line: string, start: number, end: number): Worn | null {
  if (line.trimStart().startsWith('```')) entries.fenced = !entries.fenced;
  const found = entries.fenced || line.length > LONGEST ? null : (entry.exec(line) ?? speech.exec(line));
  const said = plain(found?.[2] ?? line);
  const before = entries.times.get(said) ?? 0;
  if (!found) {
    // Comments in code are lines with a star between other lines.
    if (entries.number === null) entries.old = 0;
    if (before === 0 && !entries.titled) interrupt(entries, line);
    if (before > 0 || entries.times.size < MOST) entries.times.set(said, before + 1);
    return null;
  }
  const number = found[1] ? Number(found[1]) : null;
  const goesOn = number !== null && number === (entries.number ?? 0) + 1;
  if (number !== null && !goesOn) close(entries);
  if (number !== null) entries.number = number;
  entries.titled = /^[\s>]*#/.test(line);
  if (!/\p{L}{2}/u.test(said)) return null;
  if (before > 0 || entries.times.size < MOST) entries.times.set(said, before + 1);
  if (!entries.times.has(said) || before === 0) {
    // Without numbers, one new entry is enough to begin anew.
    entries.old = number === null ? 0 : Math.max(0, entries.old - PROGRESS);
    entries.counted = Math.min(entries.old, entries.counted);
    return null;
  }
  // Whole sections come twice in change logs.
  if (number === null && before < TWICE) return null;
  if (entries.old === 0) {
    entries.first = start;
    entries.starts.length = 0;
  }
  entries.old += 1;
  if (entries.starts.push(start) > SHOWN) entries.starts.shift();
  if (goesOn) entries.counted += 1;
  return {
    entries: entries.old,
    first: entries.first,
    period: end - start,
    latest: entries.starts[0] ?? start,
    text: found[2] ?? '',
    said,
    words: said.split(' ').length,
    counts: entries.counted >= COUNTING * entries.old,
    number,
  };
}

/** A line that is no entry and was never there: a headline begins another list. */
function interrupt(entries: Entries, line: string): void {
  if (/^\s*#|^\S.*:\s*$|^[=-]{3}/.test(line)) close(entries);
  entries.old = Math.max(0, entries.old - PROGRESS);
  entries.counted = Math.min(entries.old, entries.counted);
}

function close(entries: Entries): void {
  entries.times.clear();
  entries.number = null;
  entries.old = 0;
  entries.counted = 0;
}

/** Entries that are worth a quiet line and a card. A word alone may be the answer to each of many questions ("true", "positive"),
 *  and moves and comparisons ("empty B", "0 != 1") are few different ones by nature. */
function worth({ words, said, text }: Worn): { quiet: number; card: number } {
  if (symbolsIn(text) >= 0.5) return { quiet: 16, card: 64 };
  if (/\b\d\b/.test(said)) return { quiet: 6, card: 18 };
  return words === 1 ? { quiet: 8, card: 24 } : words === 2 ? { quiet: 4, card: 10 } : { quiet: 3, card: 6 };
}
/** Dots and dashes repeat themselves in change logs, and lines in a talk; a list that counts hardly ever does. */
const UNCOUNTED = 4;
/** A list of what the question says must be this much longer: it was perhaps asked for. */
const ASKED = 4;
/** ... and past the number that was asked for it needs fewer. */
const PAST = 0.5;

/** What the list is worth, where it takes `factor` times as many entries as usual. */
export function degreeOf(worn: Worn, factor: number, question: string): 'card' | 'quiet' | null {
  const { quiet, card } = worth(worn);
  const asked = requestedLength(question);
  const said = question.toLowerCase().includes(worn.said) ? ASKED : 1;
  const past = asked !== null && worn.number !== null && worn.number > asked ? PAST : 1;
  const times = worn.entries / (factor * said * past * (worn.counts ? 1 : UNCOUNTED));
  return times >= card ? 'card' : times >= quiet ? 'quiet' : null;
}
