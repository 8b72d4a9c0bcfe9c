import type { Level } from './levels.ts';
import type { Sentence } from './sentences.ts';

//  Sentences that say again what an earlier one said form a chain; a text whose every sentence is deep in a chain goes round.

const KEPT = 64;
/** Copies of a loop follow each other; a refrain or a quotation comes back after something else. */
const STRETCH = 1.5;
/** A song that adds a line each verse gets on: its rounds grow, and a part of each is new. */
const GROWTH = 1.05;
const STEADY = 0.97;

interface Link extends Sentence {
  /** Copies up to this one; fractions where a copy brought something new. */
  readonly depth: number;
  readonly growing: boolean;
  /** Says something that no kept sentence said: at least one content word is new. */
  readonly fresh: boolean;
  /** Where its chain began, and the distance to the copy before it, in tokens. */
  readonly origin: number;
  readonly period: number;
  /** By how much its counter moved, if just one did. */
  readonly step: number | null;
  /** Slot values of the whole chain, to tell a cycle of values from new ones. */
  readonly seen: ReadonlySet<string>;
}

export interface Chains {
  readonly links: Link[];
  /** How many kept sentences have a content word. */
  readonly words: Map<string, number>;
}

export interface Round {
  readonly copies: number;
  /** Copies as the level weighs them. */
  readonly depth: number;
  readonly period: number;
  readonly first: number;
}

export const noChains = (): Chains => ({ links: [], words: new Map() });

/** Hangs the sentence on its chain. Returns the round that the text is in, if there is any. */
export function link(chains: Chains, sentence: Sentence, level: Level): Round | null {
  const before = sentence.telling && sentence.prose ? earlier(chains.links, sentence, level.similarity) : undefined;
  const fresh = [...sentence.content].some((word) => !chains.words.has(word));
  remember(chains, before ? follow(before, sentence, fresh, level) : begin(sentence, fresh));
  const added = chains.links.at(-1);
  return before && added ? round(chains.links, added, level) : null;
}

function remember({ links, words }: Chains, added: Link): void {
  links.push(added);
  for (const word of added.content) words.set(word, (words.get(word) ?? 0) + 1);
  if (links.length <= KEPT) return;
  for (const word of links.shift()?.content ?? []) {
    const count = words.get(word) ?? 1;
    if (count > 1) words.set(word, count - 1);
    else words.delete(word);
  }
}

const begin = (sentence: Sentence, fresh: boolean): Link => ({
  ...sentence,
  fresh,
  growing: false,
  depth: 1,
  origin: sentence.start,
  period: 0,
  step: null,
  seen: new Set([sentence.slots.join(' ')]),
});

function earlier(links: readonly Link[], sentence: Sentence, similarity: number): Link | undefined {
  return links.findLast((link) => link.telling && link.prose && alike(link.content, sentence.content) >= similarity);
}

function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const larger = Math.max(one.size, other.size);
  if (larger === 0 || Math.min(one.size, other.size) < larger / 2) return 0;
  let common = 0;
  for (const word of one) if (other.has(word)) common += 1;
  return larger > 3 || common === larger ? common / larger : 0;
}

function follow(before: Link, sentence: Sentence, fresh: boolean, level: Level): Link {
  const values = sentence.slots.join(' ');
  const step = counted(before.slots, sentence.slots);
  const weight = before.seen.has(values)
    ? 1
    : step !== null && (before.step === null || before.step === step)
      ? level.counting
      : level.progress;
  const seen = before.seen.size < KEPT ? new Set(before.seen).add(values) : before.seen;
  return {
    ...sentence,
    fresh,
    growing: before.period > 0 && sentence.start - before.start > GROWTH * before.period,
    depth: before.depth + weight * (fresh ? level.fresh : 1),
    origin: before.origin,
    period: sentence.start - before.start,
    step: step ?? (before.seen.has(values) ? before.step : null),
    seen,
  };
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
  const { depth, period } = latest;
  if (depth < 2 || period <= 0) return null;
  const copies = Math.round(depth);
  if (latest.start - latest.origin > STRETCH * (copies - 1) * period) return null;
  const deep = covered(links, latest.end - period, (link) => link.depth >= depth - 1);
  const repeated = covered(links, latest.origin + period, (link) => link.depth > 1);
  if (deep < level.coverage || repeated < level.coverage) return null;
  if (latest.growing && deep < STEADY) return null;
  return { copies, depth, period, first: latest.origin };
}

/** Share of the tokens since `from` that lie in sentences for which `holds`. */
function covered(links: readonly Link[], from: number, holds: (link: Link) => boolean): number {
  let all = 0;
  let held = 0;
  for (let at = links.length - 1; at >= 0; at--) {
    const link = links[at] as Link;
    if (link.end <= from) break;
    if (!link.telling && link.prose && !link.fresh) continue;
    const tokens = link.end - Math.max(link.start, from);
    all += tokens;
    if (holds(link)) held += tokens;
  }
  return all === 0 ? 0 : held / all;
}
