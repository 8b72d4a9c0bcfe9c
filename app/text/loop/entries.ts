import { requestedLength } from './requested-length.ts';
import { symbolsIn } from './text-kind.ts';

//  Detects exhausted lists that keep counting: "12. Dubai", "13. Sydney", "14. Dubai". The numbers differ, so nothing repeats
//  exactly, and entries of one or two words are too short to be compared as sentences. The signal is that entry after
//  entry occurred in the same list before.

export interface Entries {
  line: string;
  start: number;
  fenced: boolean;
  /** Occurrences of each entry of this list, by its text. */
  readonly times: Map<string, number>;
  /** The number of the previous entry; null: it had a bullet. */
  number: number | null;
  /** The previous entry is a heading for what follows. */
  titled: boolean;
  /** Nearly consecutive entries that occurred before, how many of them continue the numbering, and where they began. */
  old: number;
  counted: number;
  first: number;
  /** Start positions of the latest ones. */
  readonly starts: number[];
}

export interface Worn {
  /** Nearly consecutive entries that occurred before. */
  readonly entries: number;
  readonly first: number;
  /** Length of the latest entry in tokens, and start positions of the latest few. */
  readonly period: number;
  readonly latest: number;
  /** Its text, verbatim and normalised, and its words. */
  readonly text: string;
  readonly said: string;
  readonly words: number;
  /** Whether the list is numbered, and the number of this entry. */
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
/** How many repeated entries a new one offsets. */
const PROGRESS = 2;
/** Minimum earlier occurrences of an entry without a number. */
const TWICE = 2;
/** Number of entries shown. */
const SHOWN = 5;
/** Minimum share of entries that continue the numbering. */
const COUNTING = 0.5;
const entry = /^[\s>]*(?:#{1,4}\s+)?(?:\*\*)?(?:(\d{1,5})[.):]|[-*•+]|\\item)(?:\*\*)?\s+(.*)$/su;
/** A line of dialogue: a name and a sentence. */
const speech = /^(?:\*\*)?\p{Lu}[\p{L} ._-]{0,24}:(?:\*\*)?:?\s+()(.{12,}[.!?…"”])\s*$/su;

/** Adds the text of token `at`. At the end of an entry, returns the list if it is exhausted. */
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
    // Block comments in code have lines that start with a star.
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
    // Without numbers, one new entry is enough to reset.
    entries.old = number === null ? 0 : Math.max(0, entries.old - PROGRESS);
    entries.counted = Math.min(entries.old, entries.counted);
    return null;
  }
  // In change logs, whole sections may occur twice.
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

/** A new line that is not an entry: a headline starts another list. */
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

/** Number of entries for a quiet line and for a card. A single word may be the answer to many questions ("true", "positive"),
 *  and moves or comparisons ("empty B", "0 != 1") have few distinct values by nature. */
function worth({ words, said, text }: Worn): { quiet: number; card: number } {
  if (symbolsIn(text) >= 0.5) return { quiet: 16, card: 64 };
  if (/\b\d\b/.test(said)) return { quiet: 6, card: 18 };
  return words === 1 ? { quiet: 8, card: 24 } : words === 2 ? { quiet: 4, card: 10 } : { quiet: 3, card: 6 };
}
/** Factor for unnumbered lists: bullets repeat in change logs, and lines in dialogue; numbered lists hardly ever do. */
const UNCOUNTED = 4;
/** Factor for a list of words from the question, which may have been requested. */
const ASKED = 4;
/** Factor beyond the requested number of entries. */
const PAST = 0.5;

/** The degree of a finding, requiring `factor` times as many entries as usual. */
export function degreeOf(worn: Worn, factor: number, question: string): 'card' | 'quiet' | null {
  const { quiet, card } = worth(worn);
  const asked = requestedLength(question);
  const said = question.toLowerCase().includes(worn.said) ? ASKED : 1;
  const past = asked !== null && worn.number !== null && worn.number > asked ? PAST : 1;
  const times = worn.entries / (factor * said * past * (worn.counts ? 1 : UNCOUNTED));
  return times >= card ? 'card' : times >= quiet ? 'quiet' : null;
}
