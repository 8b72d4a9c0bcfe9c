import type { Engine } from '../../engine/client/engine-client.ts';
import { type EngineStatus, guarded } from '../../protocol/index.ts';

export type KeepAliveOptions = {
  engine: Pick<Engine, 'unload'>;
  /** Minutes that an idle model may stay; null: as long as there is memory. */
  minutes: () => number | null;
  /** Whether other programs are short of memory. */
  memoryIsShort: () => boolean;
};

/** How long an idle model stays even when memory is short: one does not unload between question and answer. */
const LEAST_MS = 60_000;
const LOOK_MS = 15_000;
const minuteMs = 60_000;

/** Takes a model out of memory that nobody has asked anything for a while, or whose memory others need. The next question
 *  loads it again. */
export function createIdleUnload({ engine, minutes, memoryIsShort }: KeepAliveOptions) {
  let idleSince: number | null = null;
  const timer = setInterval(guarded(console.error, look), LOOK_MS);
  timer.unref();

  function look() {
    if (idleSince === null) return;
    const idle = Date.now() - idleSince;
    const most = minutes();
    const over = most !== null && idle >= most * minuteMs;
    if (!over && (idle < LEAST_MS || !memoryIsShort())) return;
    idleSince = null;
    engine.unload().catch(() => {}); // the process is gone, and its memory with it
  }

  return {
    status(status: EngineStatus) {
      if (status.phase !== 'ready') idleSince = null;
      else idleSince ??= Date.now();
    },
    close: () => clearInterval(timer),
  };
}
