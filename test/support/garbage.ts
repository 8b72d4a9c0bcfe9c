import { setTimeout as passed } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap that are still in use, of this process. Twice, since finalizers run after a collection. */
export async function collectGarbage(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let time = 0; time < 3; time++) {
    collect();
    await passed(100);
  }
  return process.memoryUsage().heapUsed;
}
