/** Collects items and passes them on at most once per `interval` ms. The first after a pause is passed on at once, so that a
 *  stop or a first token is not delayed; at 50 ms this is 20 commits a second. */
export function createBatcher<Item>(commit: (items: Item[]) => void, interval: number, clock: Clock = systemClock) {
  let items: Item[] = [];
  let last = Number.NEGATIVE_INFINITY;
  let timer: unknown = null;

  function flush() {
    timer = null;
    if (items.length === 0) return;
    last = clock.now();
    const batch = items;
    items = [];
    commit(batch);
  }

  return {
    add(item: Item) {
      items.push(item);
      if (timer !== null) return;
      timer = clock.after(Math.max(0, last + interval - clock.now()), flush);
    },
    /** Call before anything that must come after the collected items. */
    flush,
  };
}

export type Clock = { now(): number; after(ms: number, run: () => void): unknown };

const systemClock: Clock = { now: () => performance.now(), after: (ms, run) => setTimeout(run, ms) };
