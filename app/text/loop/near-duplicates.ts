import type { Features } from './score.ts';
import type { Sentence } from './sentences.ts';

//  Sentences and lines that repeat an earlier one form a chain; a text in which every line continues a chain is
//  cycling. Measures what the cycles consist of: how much is identical, counts up, or has other values, other words or new ones.

const KEPT = 96;
/** Minimum share of common words of similar sentences. */
const SIMILAR = 0.45;
/** Distinct values from which on a row has content, unlike a grid of zeros. */
export const VALUES = 4;
/** Minimum copies of a cycle. */
const ROUND = 3;
/** Maximum words, values and lines remembered to recognise new ones. */
const MAX_WORDS = 1 << 16;

interface Link extends Sentence {
  /** Copies up to this one, including the first, and how many of them brought no new word, name or number. */
  readonly copies: number;
  readonly stale: number;
  /** The start of its chain, and the distances to the previous copy and the one before that, in tokens and in sentences. */
  readonly origin: number;
  readonly period: number;
  readonly before: number;
  readonly index: number;
  readonly lines: number;
  /** Has a word, name or number that is new in this text; `known`: occurred before verbatim. */
  readonly fresh: boolean;
  readonly numbers: boolean;
  readonly known: boolean;
  /** Share of words in common with the previous copy. */
  readonly similar: number;
  /** The increment of its counter, if exactly one number changed. */
  readonly step: number | null;
  /** Consecutive identical copies up to this one. */
  readonly identical: number;
  /** How it differs from the previous copy. */
  readonly change: 'same' | 'counter' | 'back' | 'values' | 'words' | 'first';
}

export interface Chains {
  readonly links: Link[];
  /** All words and names, numbers and lines of the text. */
  readonly words: Set<string>;
  readonly numbers: Set<string>;
  readonly exact: Set<number>;
  /** The last link of each shape. */
  readonly shapes: Map<number, Link>;
  count: number;
}

export interface Round {
  readonly copies: number;
  readonly period: number;
  readonly first: number;
  /** Start of the latest copy, at its first sentence. */
  readonly latest: number;
  /** Consecutive identical copies of the latest sentence. */
  readonly identical: number;
  readonly features: Features;
}

export const noChains = (): Chains => ({
  links: [],
  words: new Set(),
  numbers: new Set(),
  exact: new Set(),
  shapes: new Map(),
  count: 0,
});

/** Links a sentence to its chain. Returns the current cycle, if any. */
export function link(chains: Chains, sentence: Sentence): Round | null {
  const before = earlier(chains, sentence);
  const seen = {
    fresh: isFresh(chains.words, [...sentence.content, ...sentence.names]),
    numbers: isFresh(chains.numbers, sentence.slots),
    known: chains.exact.has(sentence.exact),
  };
  if (chains.exact.size < MAX_WORDS) chains.exact.add(sentence.exact);
  const added = follow(before, sentence, seen, chains.count++);
  remember(chains, added);
  return before ? round(chains.links, added) : null;
}

function isFresh(known: Set<string>, words: readonly string[]): boolean {
  let fresh = false;
  for (const word of words) {
    if (known.has(word)) continue;
    fresh = true;
    if (known.size < MAX_WORDS) known.add(word);
  }
  return fresh;
}

function remember({ links, shapes }: Chains, added: Link): void {
  links.push(added);
  shapes.set(added.shape, added);
  if (links.length <= KEPT) return;
  const gone = links.shift();
  if (gone && shapes.get(gone.shape) === gone) shapes.delete(gone.shape);
}

function earlier({ links, shapes }: Chains, sentence: Sentence): Link | undefined {
  const shaped = shapes.get(sentence.shape);
  if (sentence.row) return shaped && repeatsRow(shaped, sentence) ? shaped : undefined;
  if (shaped) return shaped;
  if (!sentence.telling || !sentence.prose) return undefined;
  for (let at = links.length - 1; at >= 0; at--) {
    const link = links[at] as Link;
    if (link.telling && link.prose && alike(link.content, sentence.content) >= SIMILAR) return link;
  }
  return undefined;
}

/** A row counts as a repetition only if it has enough values, or counts up. */
function repeatsRow(before: Link, { exact, slots }: Sentence): boolean {
  if (before.exact === exact) return new Set(slots).size >= VALUES;
  return counted(before.slots, slots) !== null;
}

function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const larger = Math.max(one.size, other.size);
  if (larger === 0 || Math.min(one.size, other.size) < SIMILAR * larger) return 0;
  let common = 0;
  for (const word of one) if (other.has(word)) common += 1;
  return common / larger;
}

type Seen = Pick<Link, 'fresh' | 'numbers' | 'known'>;

function follow(before: Link | undefined, sentence: Sentence, seen: Seen, index: number): Link {
  const step = before ? counted(before.slots, sentence.slots) : null;
  const stale = seen.fresh || seen.numbers ? 0 : 1;
  return {
    ...sentence,
    ...seen,
    copies: (before?.copies ?? 0) + 1,
    stale: (before?.stale ?? 0) + stale,
    origin: before?.origin ?? sentence.start,
    period: before ? sentence.start - before.start : 0,
    before: before?.period ?? 0,
    index,
    lines: before ? index - before.index : 0,
    similar: before ? alike(before.content, sentence.content) : 0,
    identical: before?.exact === sentence.exact ? before.identical + 1 : 1,
    step,
    change: before ? changeOf(before, sentence, step, seen.known) : 'first',
  };
}

function changeOf(before: Link, sentence: Sentence, step: number | null, known: boolean): Link['change'] {
  if (before.exact === sentence.exact) return 'same';
  if (isCounter(before, sentence, step)) return 'counter';
  if (known) return 'back';
  return before.shape === sentence.shape ? 'values' : 'words';
}

/** Whether a number is a counter: in lists, a single number may differ arbitrarily. */
function isCounter(before: Link, sentence: Sentence, step: number | null): boolean {
  if (step === null || before.shape !== sentence.shape) return false;
  return before.step === step || (before.step === null && before.end !== sentence.start);
}

/** The increment of a lone counter: all changed numbers went from the same value to the same other one, and nothing else changed. */
function counted(before: readonly string[], after: readonly string[]): number | null {
  if (before.length !== after.length) return null;
  let from: string | undefined;
  let to: string | undefined;
  for (let at = 0; at < after.length; at++) {
    if (before[at] === after[at]) continue;
    if (from !== undefined && (before[at] !== from || after[at] !== to)) return null;
    from = before[at];
    to = after[at];
  }
  const step = Number(to) - Number(from);
  return Number.isFinite(step) ? step : null;
}

/** The composition of the latest period, in shares of its tokens. */
function round(links: readonly Link[], latest: Link): Round | null {
  const { period, copies } = latest;
  if (copies < ROUND || period <= 0 || !(latest.telling || latest.slots.length > 0)) return null;
  const from = latest.end - period;
  const sums = {
    all: 0,
    same: 0,
    counter: 0,
    back: 0,
    values: 0,
    words: 0,
    first: 0,
  };
  const of = {
    similar: 0,
    fresh: 0,
    numbers: 0,
    rows: 0,
    prose: 0,
    aligned: 0,
    deep: 0,
    fixed: 0,
    slots: 0,
    cued: 0,
  };
  for (let at = links.length - 1; at >= 0; at--) {
    const link = links[at] as Link;
    if (link.end <= from) break;
    if (!link.telling && link.slots.length === 0 && !link.fresh) continue;
    const tokens = link.end - Math.max(link.start, from);
    sums.all += tokens;
    sums[link.change] += tokens;
    of.similar += tokens * link.similar;
    if (link.fresh) of.fresh += tokens;
    if (link.numbers) of.numbers += tokens;
    if (link.row) of.rows += tokens;
    if (link.prose) of.prose += tokens;
    if (link.cued) of.cued += tokens;
    if (Math.abs(link.lines - latest.lines) <= 1) of.aligned += tokens;
    if (link.copies >= copies - 1) of.deep += tokens;
    of.fixed += link.fixed;
    of.slots += link.slots.length;
  }
  const { all } = sums;
  if (all === 0) return null;
  return {
    copies,
    period,
    first: latest.origin,
    latest: latest.start - period,
    identical: latest.identical,
    features: {
      copies: Math.log2(copies),
      period: Math.log2(period),
      length: Math.log2((copies - 1) * period),
      lines: Math.log2(1 + latest.lines),
      same: sums.same / all,
      counter: sums.counter / all,
      back: sums.back / all,
      values: sums.values / all,
      words: sums.words / all,
      first: sums.first / all,
      similar: of.similar / all,
      fresh: of.fresh / all,
      numbers: of.numbers / all,
      rows: of.rows / all,
      prose: of.prose / all,
      cued: of.cued / all,
      aligned: of.aligned / all,
      deep: of.deep / all,
      fixed: latest.fixed,
      said: of.fixed,
      density: of.slots / Math.max(1, of.slots + of.fixed),
      stale: latest.stale / copies,
      repeated: repeated(links, latest),
      stretched: Math.min(8, (latest.start - latest.origin) / ((copies - 1) * period)),
      growing: latest.before > 0 ? Math.min(4, period / latest.before) : 1,
    },
  };
}

/** The share of copies in the text since the second copy began: a refrain recurs, but not the whole song. */
function repeated(links: readonly Link[], { origin, period }: Link): number {
  let all = 0;
  let copies = 0;
  for (let at = links.length - 1; at >= 0; at--) {
    const link = links[at] as Link;
    if (link.start < origin + period) break;
    if (!link.telling && link.slots.length === 0 && !link.fresh) continue;
    all += link.end - link.start;
    if (link.copies > 1) copies += link.end - link.start;
  }
  return all === 0 ? 0 : copies / all;
}
