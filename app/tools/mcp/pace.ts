import { guarded } from '../../protocol/index.ts';

/** Runs `work` when it is asked for: never twice at once, and not again before `ms` have passed. What is asked for meanwhile is
 *  done once, afterwards. */
export function createPace(work: () => Promise<void>, ms: number) {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let again = false;
  let last = Number.NEGATIVE_INFINITY;

  function ask() {
    if (running) again = true;
    else timer ??= setTimeout(guarded(console.error, run), Math.max(0, last + ms - performance.now())).unref();
  }

  async function run() {
    timer = undefined;
    running = true;
    try {
      await work();
    } finally {
      running = false;
      last = performance.now();
      if (again) ask();
      again = false;
    }
  }

  return {
    ask,
    /** It is done otherwise, just now. */
    skip() {
      clearTimeout(timer);
      timer = undefined;
      again = false;
      last = performance.now();
    },
  };
}
