//  Exact periods of a stream of ids: does what is written now equal what was written p tokens ago, and for how long already?
//  Only the earlier places of the same id are visited, so ordinary text costs next to nothing and one token for ever 256 steps.

export const MAX_PERIOD = 256;
/** Room for what can still be compared; slid to the front when it is full. */
const ROOM = 16 * MAX_PERIOD;
const BUCKETS = 1024;

export interface Periods {
  readonly ids: Int32Array;
  length: number;
  /** The place before this one whose id falls into the same bucket, and the last place of each bucket; -1: none. */
  readonly before: Int32Array;
  readonly last: Int32Array;
  /** run[p]: how many tokens in a row equalled the token p places before them, up to place until[p]. */
  readonly run: Int32Array;
  readonly until: Int32Array;
}

export const noPeriods = (): Periods => ({
  ids: new Int32Array(ROOM),
  length: 0,
  before: new Int32Array(ROOM),
  last: new Int32Array(BUCKETS).fill(-1),
  run: new Int32Array(MAX_PERIOD + 1),
  until: new Int32Array(MAX_PERIOD + 1).fill(-1),
});

/** Takes the next id. Returns the smallest period that fills the last `tokens` tokens with at least two copies, or 0. */
export function advance(periods: Periods, id: number, tokens: number): number {
  if (periods.length === ROOM) slide(periods);
  const { ids, before, last, run, until } = periods;
  const now = periods.length;
  const bucket = id & (BUCKETS - 1);
  let found = 0;
  for (let place = last[bucket] as number; place >= 0 && now - place <= MAX_PERIOD; place = before[place] as number) {
    if (ids[place] !== id) continue;
    const period = now - place;
    const length = until[period] === now - 1 ? (run[period] as number) + 1 : 1;
    run[period] = length;
    until[period] = now;
    if (found === 0 && length >= period && length + period >= tokens) found = period;
  }
  ids[now] = id;
  before[now] = last[bucket] as number;
  last[bucket] = now;
  periods.length = now + 1;
  return found;
}

function slide(periods: Periods): void {
  const by = ROOM - MAX_PERIOD;
  const { ids, before, last, until } = periods;
  ids.copyWithin(0, by);
  before.copyWithin(0, by);
  for (const places of [before, last, until]) {
    for (let at = 0; at < places.length; at++) places[at] = Math.max(-1, (places[at] as number) - by);
  }
  periods.length = MAX_PERIOD;
}
