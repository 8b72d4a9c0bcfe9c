import type { Level } from './levels.ts';
import type { Sentence } from './sentences.ts';

//  Sentences and lines that say again what an earlier one said form a chain; a text whose every line is deep in a chain goes
//  round. How much a copy counts is a matter of its values: the same as before, a counter that moved, other numbers, new names.

const KEPT = 96;
/** Below this share of common words two sentences are not even similar. */
const SIMILAR = 0.5;
/** Copies of a loop follow each other; a refrain or a quotation comes back after something else. */
const STRETCH = 1.5;
/** A song that adds a line each verse gets on: its rounds grow, and a part of each is new. */
const GROWTH = 1.05;
const STEADY = 0.97;
/** A copy that counts less than this takes half of the depth back: loops do not get on in between. */
const STAYING = 0.1;
/** Different values from which on a row says something that a grid of zeros does not. */
export const VALUES = 4;
/** Words with which a sentence can be told from one that is only built like it. */
const WORDED = 5;
/** Tokens of a round of thought; longer copies (clauses, drafts) are made on purpose more often, and must be more alike. */
const SHORT = 120;
const LONG_COVERAGE = 0.85;
const LONG_FRESH = 0.05;
/** So often in a row a counter is one. */
const COUNTS = 6;
/** Words and values of a line that are more than a label. */
const LONG = 6;
/** Words of a text that are remembered, so that new ones are known to be new. */
const MOST_WORDS = 1 << 16;

interface Link extends Sentence {
  /** Copies up to this one, as the level weighs them; fractions where a copy brought something new. */
  readonly depth: number;
  /** Copies as counted, and those of them that brought no new word. */
  readonly copies: number;
  readonly stale: number;
  readonly growing: boolean;
  /** Has a word or a name that was never in this text. */
  readonly fresh: boolean;
  /** Where its chain began, and the distance to the copy before it, in tokens and in sentences. */
  readonly origin: number;
  readonly period: number;
  readonly index: number;
  readonly lines: number;
  /** By how much its counter moved, if just one did. */
  readonly step: number | null;
  /** Copies in a row that differed in it alone. */
  readonly counts: number;
  /** What it differs from the copy before in: nothing, a counter, or values. */
  readonly change: 'same' | 'counter' | 'back' | 'values' | 'words' | 'first';
  /** Exact texts of the whole chain, to tell a cycle of values from new ones. */
  readonly seen: ReadonlySet<number>;
}

export interface Chains {
  readonly links: Link[];
  /** Every word and name of the text. */
  readonly words: Set<string>;
  /** The last link of each shape. */
  readonly shapes: Map<number, Link>;
  count: number;
}

export interface Round {
  readonly copies: number;
  /** Copies as the level weighs them. */
  readonly depth: number;
  /** Copies without a new word. */
  readonly stale: number;
  readonly period: number;
  readonly first: number;
  /** How much of the latest copy is the same to the letter, and how much but for a counter. */
  readonly same: number;
  readonly counter: number;
  /** How much of it is rows of other values. */
  readonly rows: number;
  /** How much of it is prose. */
  readonly prose: number;
  /** A list of lines of one shape with few words. */
  readonly listed: boolean;
  readonly fixed: number;
  /** Where the latest copy stands, from the begin of its first sentence on. */
  readonly latest: number;
}

export const noChains = (): Chains => ({ links: [], words: new Set(), shapes: new Map(), count: 0 });

/** Hangs the sentence on its chain. Returns the round that the text is in, if there is any. */
export function link(chains: Chains, sentence: Sentence, level: Level): Round | null {
  const before = earlier(chains, sentence);
  const fresh = isFresh(chains.words, sentence);
  const index = chains.count++;
  const added = before ? follow(before, sentence, fresh, index, level) : begin(sentence, fresh, index);
  remember(chains, added);
  return before ? round(chains.links, added, level) : null;
}

function isFresh(words: Set<string>, { content, names }: Sentence): boolean {
  let fresh = false;
  for (const list of [content, names]) {
    for (const word of list) {
      if (words.has(word)) continue;
      fresh = true;
      if (words.size < MOST_WORDS) words.add(word);
    }
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

const begin = (sentence: Sentence, fresh: boolean, index: number): Link => ({
  ...sentence,
  fresh,
  growing: false,
  depth: 1,
  copies: 1,
  stale: 1,
  origin: sentence.start,
  period: 0,
  index,
  lines: 0,
  step: null,
  counts: 0,
  change: 'first',
  seen: new Set([sentence.exact]),
});

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

/** A row says the same again only where it has enough values to say something; or it counts. */
function repeatsRow(before: Link, { exact, slots }: Sentence): boolean {
  if (before.exact === exact) return new Set(slots).size >= VALUES;
  return counted(before.slots, slots) !== null;
}

function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const larger = Math.max(one.size, other.size);
  if (larger === 0 || Math.min(one.size, other.size) < larger / 2) return 0;
  let common = 0;
  for (const word of one) if (other.has(word)) common += 1;
  return larger > 3 || common === larger ? common / larger : 0;
}

function follow(before: Link, sentence: Sentence, fresh: boolean, index: number, level: Level): Link {
  const step = counted(before.slots, sentence.slots);
  const change = changeOf(before, sentence, step);
  const lines = index - before.index;
  const seen = before.seen.size < KEPT && change !== 'same' ? new Set(before.seen).add(sentence.exact) : before.seen;
  const weight = weightOf(change, level, lines === 1, before, sentence) * (fresh ? level.fresh : 1);
  return {
    ...sentence,
    fresh,
    growing: before.period > 0 && sentence.start - before.start > GROWTH * before.period,
    depth: weight >= STAYING ? before.depth + weight : 1 + (before.depth - 1) / 2 + weight,
    copies: before.copies + 1,
    stale: before.stale + (fresh ? 0 : 1),
    origin: before.origin,
    period: sentence.start - before.start,
    index,
    lines,
    step,
    counts: change === 'counter' ? before.counts + 1 : 0,
    change,
    seen,
  };
}

function changeOf(before: Link, sentence: Sentence, step: number | null): Link['change'] {
  if (before.exact === sentence.exact) return 'same';
  if (isCounter(before, sentence, step)) return 'counter';
  if (before.seen.has(sentence.exact)) return 'back';
  return before.shape === sentence.shape ? 'values' : 'words';
}

/** In a list of lines of one shape ("2 in row 3, column 4 conflicts"), values that come back are the matter of it. */
/** In a list, one number differs in many ways before it counts up. */
function isCounter(before: Link, sentence: Sentence, step = counted(before.slots, sentence.slots)): boolean {
  if (step === null || before.shape !== sentence.shape) return false;
  return before.step === step || (before.step === null && !isListed(before, sentence));
}

const isListed = (before: Sentence, sentence: Sentence) => before.end === sentence.start;

function weightOf(change: Link['change'], level: Level, listed: boolean, before: Link, sentence: Sentence): number {
  if (change === 'same') return 1;
  if (change === 'counter') return level.counting;
  if (change === 'back') return listed ? level.listed : level.back;
  if (change === 'values') return listed ? 0 : level.progress;
  if (listed || Math.min(before.content.size, sentence.content.size) < WORDED) return 0;
  return alike(before.content, sentence.content) >= level.similarity ? level.reworded : 0;
}

/** The step of a lone counter: every number that changed went from one value to one other, and nothing else changed. */
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

/** In a round, the latest period is made of deep copies, and all that lies between the first copy and it of copies. */
function round(links: readonly Link[], latest: Link, level: Level): Round | null {
  const { depth, period, copies, stale } = latest;
  if (copies < 3 || period <= 0 || !(latest.telling || latest.fixed + latest.slots.length > LONG)) return null;
  if (latest.start - latest.origin > STRETCH * (copies - 1) * period) return null;
  const from = latest.end - period;
  let all = 0;
  let rows = 0;
  let deep = 0;
  let turned = 0;
  let same = 0;
  let counter = 0;
  let fresh = 0;
  let prose = 0;
  for (let at = links.length - 1; at >= 0; at--) {
    const link = links[at] as Link;
    if (link.end <= from) break;
    const tokens = link.end - Math.max(link.start, from);
    if (!link.telling && link.slots.length === 0 && !link.fresh) continue;
    if (link.row && link.copies === 1) {
      rows += tokens;
      continue;
    }
    all += tokens;
    if (link.depth >= depth - 1) deep += tokens;
    if (link.copies >= Math.min(copies - 1, level.quietCopies)) turned += tokens;
    if (link.change === 'same') same += tokens;
    else if (link.change === 'counter') counter += tokens;
    if (link.fresh) fresh += tokens;
    if (link.prose) prose += tokens;
  }
  const short = period <= SHORT;
  const coverage = short ? level.coverage : Math.max(level.coverage, LONG_COVERAGE);
  const freshShare = short ? level.freshShare : Math.min(level.freshShare, LONG_FRESH);
  if (all === 0 || turned < coverage * all) return null;
  const weighed =
    deep >= coverage * (all + rows) &&
    fresh <= freshShare * all &&
    !(latest.growing && deep < STEADY * all) &&
    repeated(links, latest) >= coverage;
  return {
    copies,
    depth: weighed ? depth : 0,
    stale,
    period,
    first: latest.origin,
    same: same / (all + rows),
    counter: counter / (all + rows),
    rows: rows / (all + rows),
    prose: prose / all,
    listed: latest.lines === 1 && latest.slots.length > 0 && latest.change !== 'same' && latest.counts < COUNTS,
    latest: latest.start - period,
    fixed: latest.fixed,
  };
}

/** How much of what was written since the second copy began is copies: a refrain comes back, but not a song. */
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
