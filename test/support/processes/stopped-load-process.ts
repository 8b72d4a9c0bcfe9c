// A process that loads a model, then stops the same load at several points, and prints how much memory it held each time.
// node --expose-gc test/support/processes/stopped-load-process.ts PATH STOPS
import { setTimeout as wait } from 'node:timers/promises';
import { loadAddon } from '../../../app/engine/process/addon.ts';
import { repository } from '../addon.ts';

const [path = '', stops = ''] = process.argv.slice(2);
const addon = loadAddon(`${repository}/build/native/Release/longhand.node`);
const options = { device: 'cpu', threads: 2 };

/** Resident memory once it has stopped falling: models are freed on a thread of their own. */
async function held(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let still = 0; still < 20; still++) {
    globalThis.gc?.();
    const now = process.memoryUsage.rss();
    if (now < least) [least, still] = [now, 0];
    await wait(20);
  }
  return least;
}

/** The same, once what a stopped load had taken is gone: on a busy machine the thread that frees it may come late. */
async function heldAfterwards(): Promise<number> {
  let least = await held();
  for (let tries = 0; least > base + (loaded - base) / 4 && tries < 20; tries++) least = await held();
  return least;
}

/** The memory held when the load was stopped; null if it finished first. */
async function stoppedAt(share: number): Promise<number | null> {
  const signal = new addon.AbortFlag();
  let during = 0;
  const onProgress = (done: number, total: number) => {
    if (signal.isSet || done < total * share) return;
    during = process.memoryUsage.rss();
    signal.set();
  };
  const model = await addon.load(path, { ...options, onProgress, signal }).catch(() => null);
  model?.close();
  return model ? null : during;
}

const whole = await addon.load(path, options);
const loaded = await held();
whole.close();
const base = await held();
const during: number[] = [];
const after: number[] = [];
for (let share = 0.5; during.length < Number(stops) && share > 0.001; ) {
  const had = await stoppedAt(share);
  // The load finished first.
  if (had === null) share /= 2;
  else {
    during.push(had);
    after.push(await heldAfterwards());
  }
}
process.send?.({ base, loaded, during, after });
