//  Exact periods of a stream of ids, of any length: the last eight ids are hashed, and the distance to their previous
//  occurrence is a candidate period. Agreement at that distance is then counted forwards, and once backwards when a
//  distance is new. Constant cost per token, however long the answer is.

/** Number of ids that must agree before a distance is considered. */
const GROUP = 8;
const SLOTS = 1 << 16;
const FIRST_ROOM = 4096;
/** Backward steps per token. */
const STEPS = 8;
const MAX_STEPS = 1 << 15;
const FACTOR = 0x01000193;

/** The last `run` ids agree with those at distance `period`. */
interface Track {
  period: number;
  run: number;
}

export interface Periods {
  ids: Int32Array;
  length: number;
  hash: number;
  readonly last: Int32Array;
  /** The longest ongoing agreement, and a shorter period that may replace it. */
  readonly long: Track;
  readonly short: Track;
  steps: number;
}

export const noPeriods = (): Periods => ({
  ids: new Int32Array(FIRST_ROOM),
  length: 0,
  hash: 0,
  last: new Int32Array(SLOTS).fill(-1),
  long: { period: 0, run: 0 },
  short: { period: 0, run: 0 },
  steps: 0,
});

let power = 1;
for (let at = 0; at < GROUP; at++) power = Math.imul(power, FACTOR);
const mixed = (id: number) => Math.imul(id + 0x7feb352d, 0x9e3779b1) ^ (id >>> 15);

/** Adds the next id. Returns the current repetition with at least two whole copies. */
export function advance(periods: Periods, id: number): Readonly<Track> | null {
  if (periods.length === periods.ids.length) grow(periods);
  const { ids, long, short, last } = periods;
  const at = periods.length++;
  ids[at] = id;
  periods.steps = Math.min(MAX_STEPS, periods.steps + STEPS);
  periods.hash = (Math.imul(periods.hash, FACTOR) + mixed(id)) | 0;
  if (at >= GROUP) periods.hash = (periods.hash - Math.imul(mixed(ids[at - GROUP] as number), power)) | 0;
  follow(long, ids, at);
  follow(short, ids, at);
  if (at < GROUP - 1) return null;
  const slot = (periods.hash ^ (periods.hash >>> 16)) & (SLOTS - 1);
  const before = last[slot] as number;
  last[slot] = at;
  if (before >= 0) consider(periods, at, at - before);
  if (span(short) > 0 && span(short) >= span(long) - long.period) {
    long.period = short.period;
    long.run = short.run;
    short.period = 0;
  }
  return long.period > 0 && long.run >= long.period ? long : null;
}

const span = ({ period, run }: Track) => (period === 0 ? 0 : period + run);

function follow(track: Track, ids: Int32Array, at: number): void {
  if (track.period === 0) return;
  if (ids[at] === ids[at - track.period]) track.run += 1;
  else track.period = 0;
}

function consider(periods: Periods, at: number, period: number): void {
  const { ids, long, short } = periods;
  if (period === long.period || period === short.period) return;
  if (long.period > 0 && period > long.period) return;
  const track = long.period === 0 ? long : short;
  if (track.period > 0 && track.run >= 2 * GROUP) return;
  let run = 0;
  const most = Math.min(at + 1 - period, periods.steps);
  while (run < most && ids[at - run] === ids[at - run - period]) run += 1;
  periods.steps -= run;
  if (run < GROUP) return;
  track.period = period;
  track.run = run;
}

function grow(periods: Periods): void {
  const larger = new Int32Array(2 * periods.ids.length);
  larger.set(periods.ids);
  periods.ids = larger;
}
