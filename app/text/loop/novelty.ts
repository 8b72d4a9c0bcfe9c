//  Novelty of the text: the rate of trigrams not seen in the last thousand tokens, and the entropy of
//  the latest tokens; both fall before a text settles into a period (LoopBench, arXiv 2601.05693).

const WINDOW = 256;
const MEMORY = 1024;
const SLOTS = 1 << 14;
/** Weight of one token in the exponential average: half of it is the last 180 tokens. */
const FADE = 1 / WINDOW;

export interface Novelty {
  readonly recent: Int32Array;
  readonly lastSeen: Int32Array;
  readonly times: Uint8Array;
  readonly counts: Map<number, number>;
  at: number;
  /** Share of new trigrams, mean copies of a trigram, entropy in bits of the last 256 tokens. */
  rate: number;
  copies: number;
  weighted: number;
  /** Tokens since the last section with more than a few distinct symbols. */
  poor: number;
}

export const nothingWritten = (): Novelty => ({
  recent: new Int32Array(WINDOW),
  lastSeen: new Int32Array(SLOTS).fill(-MEMORY),
  times: new Uint8Array(SLOTS),
  counts: new Map(),
  at: 0,
  rate: 1,
  copies: 1,
  weighted: 0,
  poor: 0,
});

/** Entropy below which there are only a few distinct symbols: a matrix of zeros with occasional ones. */
const POOR = 2;

const bits = (count: number) => (count > 1 ? count * Math.log2(count) : 0);

function change(novelty: Novelty, id: number, by: 1 | -1): void {
  const count = novelty.counts.get(id) ?? 0;
  novelty.weighted += bits(count + by) - bits(count);
  if (count + by === 0) novelty.counts.delete(id);
  else novelty.counts.set(id, count + by);
}

export function observe(novelty: Novelty, id: number): void {
  const { recent, at } = novelty;
  const place = at % WINDOW;
  if (at >= WINDOW) change(novelty, recent[place] as number, -1);
  change(novelty, id, 1);
  recent[place] = id;
  const one = recent[(at + WINDOW - 1) % WINDOW] as number;
  const two = recent[(at + WINDOW - 2) % WINDOW] as number;
  const group = (Math.imul(id, 0x9e3779b1) ^ Math.imul(one, 0x85ebca6b) ^ Math.imul(two, 0xc2b2ae35)) >>> 18;
  const known = at - (novelty.lastSeen[group] as number) < MEMORY;
  novelty.times[group] = known ? Math.min(255, (novelty.times[group] as number) + 1) : 1;
  novelty.lastSeen[group] = at;
  novelty.rate += FADE * ((known ? 0 : 1) - novelty.rate);
  novelty.copies += FADE * ((novelty.times[group] as number) - novelty.copies);
  novelty.at = at + 1;
  novelty.poor = entropy(novelty) < POOR ? novelty.poor + 1 : 0;
}

/** Bits per token over the last 256. */
export function entropy(novelty: Novelty): number {
  const size = Math.min(novelty.at, WINDOW);
  return size === 0 ? 0 : Math.log2(size) - novelty.weighted / size;
}

/** Low novelty: the early warning. */
export const fading = (novelty: Novelty): boolean => novelty.at > WINDOW && novelty.rate < 0.25 && entropy(novelty) < 6;

/** No novelty for long: a few sentences shuffled endlessly. */
export const collapsed = (novelty: Novelty): boolean =>
  novelty.at > 2 * WINDOW && novelty.rate < 0.02 && novelty.copies > 4 && entropy(novelty) < 5.5;
