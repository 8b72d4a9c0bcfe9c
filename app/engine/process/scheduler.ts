import type { Priority } from '../ipc-protocol.ts';

/** `read-back`: prefilling an answer for the next turn. `index`: embedding passages of documents. */
export type Urgency = Priority | 'read-back' | 'index';

export type Work = {
  run(): Promise<void>;
  /** Called when more urgent work is waiting: end soon. */
  yieldTo(): void;
  /** Runs beside others of the same group; without one it runs alone. */
  group?: string;
  /** Memory it takes while it runs; checked before it starts beside others. */
  bytes?(): number;
};

/** Limits on concurrent work. A single piece of work may always run. */
export type Capacity = { atOnce: number; bytes: number };

type Entry = { priority: Urgency; work: Work };

const order: readonly Urgency[] = ['chat', 'server', 'title', 'read-back', 'index'];
const rank = (priority: Urgency) => order.indexOf(priority);

/** Most urgent first, in order of arrival among equals; work of one group runs concurrently while there is room, and nothing
 *  overtakes earlier waiting work. Running work that is less urgent than a newcomer and cannot run beside it is asked to end; its
 *  caller retries. */
export function createScheduler(capacity: () => Capacity) {
  let waiting: Entry[] = [];
  const running = new Set<Entry>();

  function joins({ work }: Entry): boolean {
    if (running.size === 0) return true;
    const { atOnce, bytes } = capacity();
    if (work.group === undefined || running.size >= atOnce) return false;
    const others = [...running].map((entry) => entry.work);
    if (others.some(({ group }) => group !== work.group)) return false;
    return [work, ...others].reduce((sum, one) => sum + (one.bytes?.() ?? 0), 0) <= bytes;
  }

  function next() {
    waiting.sort((a, b) => rank(a.priority) - rank(b.priority));
    for (let [first] = waiting; first && joins(first); [first] = waiting) {
      waiting.shift();
      void start(first);
    }
    const [first] = waiting;
    if (!first) return;
    for (const { priority, work } of running) if (rank(first.priority) < rank(priority)) work.yieldTo();
  }

  async function start(entry: Entry) {
    running.add(entry);
    // Work reports its own failures; one that throws must not stop the rest.
    await entry.work.run().catch(() => {});
    running.delete(entry);
    next();
  }

  return {
    add(priority: Urgency, work: Work) {
      waiting.push({ priority, work });
      next();
    },
    /** Call when there may be more room than before. */
    look: next,
    /** Removes work that has not begun. Returns whether it was still waiting. */
    withdraw(work: Work): boolean {
      const before = waiting.length;
      waiting = waiting.filter((entry) => entry.work !== work);
      if (waiting.length < before) next();
      return waiting.length < before;
    },
  };
}
