import type { Priority } from '../ipc-protocol.ts';

/** `read-back`: an answer is read for the next turn. `index`: passages of documents are read for searching. */
export type Urgency = Priority | 'read-back' | 'index';

export type Work = {
  run(): Promise<void>;
  /** Asked when something more urgent waits: end soon. */
  yieldTo(): void;
};

const order: readonly Urgency[] = ['chat', 'title', 'read-back', 'index'];

/** One thing at a time, the most urgent first, in order of arrival among equals. What is less urgent than a newcomer is asked
 *  to end; whoever wanted it asks again. */
export function createScheduler() {
  const waiting: { priority: Urgency; work: Work }[] = [];
  let now: { priority: Urgency; work: Work } | null = null;
  let idle: (() => void)[] = [];

  const rank = (priority: Urgency) => order.indexOf(priority);

  async function next() {
    if (now) return;
    waiting.sort((a, b) => rank(a.priority) - rank(b.priority));
    now = waiting.shift() ?? null;
    if (!now) {
      for (const done of idle) done();
      idle = [];
      return;
    }
    // Work reports its own failures; one that throws must not stop the rest.
    await now.work.run().catch(() => {});
    now = null;
    void next();
  }

  return {
    add(priority: Urgency, work: Work) {
      waiting.push({ priority, work });
      if (now && rank(priority) < rank(now.priority)) now.work.yieldTo();
      void next();
    },
    /** Resolves when nothing runs or waits. */
    idle: () => (now || waiting.length > 0 ? new Promise<void>((resolve) => idle.push(resolve)) : Promise.resolve()),
  };
}
