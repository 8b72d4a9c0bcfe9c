import type { Priority } from '../ipc-protocol.ts';

/** `read-back`: an answer is read for the next turn. `index`: passages of documents are read for searching. */
export type Urgency = Priority | 'read-back' | 'index';

export type Work = {
  run(): Promise<void>;
  /** Asked when something more urgent has to wait for it: end soon. */
  yieldTo(): void;
  /** Runs beside others of the same group; without one it runs alone. */
  group?: string;
  /** Memory it takes while it runs, asked when it might begin beside others. */
  bytes?(): number;
};

/** What may run side by side. One alone always may. */
export type Capacity = { atOnce: number; bytes: number };

type Entry = { priority: Urgency; work: Work };

const order: readonly Urgency[] = ['chat', 'server', 'title', 'read-back', 'index'];
const rank = (priority: Urgency) => order.indexOf(priority);

/** The most urgent first, in order of arrival among equals; those of one group side by side while there is room, and nothing
 *  overtakes what waits before it. What is less urgent than a newcomer and cannot run beside it is asked to end; whoever
 *  wanted it asks again. */
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
    /** There may be more room than before. */
    look: next,
    /** Takes back what has not begun. Returns whether it was still waiting. */
    withdraw(work: Work): boolean {
      const before = waiting.length;
      waiting = waiting.filter((entry) => entry.work !== work);
      if (waiting.length < before) next();
      return waiting.length < before;
    },
  };
}
