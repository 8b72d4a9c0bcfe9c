/** A readers-writer lock for changes to library files: many at once, or one exclusively. */
export type RwLock = {
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Exclusive: waits for running work, and later work waits for it. */
  alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
};

/** Rejects on abort, whatever becomes of the work. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

export function createRwLock(): RwLock {
  const underWay = new Set<Promise<unknown>>();
  let closed: Promise<void> | null = null;
  return {
    async shared(work) {
      while (closed) await closed;
      const result = work();
      underWay.add(result);
      return result.finally(() => underWay.delete(result));
    },
    async alone(work, signal) {
      while (closed || underWay.size > 0) {
        await orAborted<unknown>(closed ?? Promise.allSettled(underWay), signal);
      }
      let open = () => {};
      closed = new Promise((resolve) => {
        open = resolve;
      });
      try {
        return await work();
      } finally {
        closed = null;
        open();
      }
    },
  };
}
