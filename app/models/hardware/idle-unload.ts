import type { Engine } from '../../engine/client/engine-client.ts';
import { type EngineStatus, guarded } from '../../protocol/index.ts';

export type KeepAliveOptions = {
  engine: Pick<Engine, 'unload' | 'ask'>;
  /** Minutes that an idle model stays; null: until memory runs short. */
  minutes: () => number | null;
  /** Whether other programs are short of memory. */
  memoryIsShort: () => boolean;
};

export type KeepAlive = {
  status(status: EngineStatus): void;
  /** Overrides, until the next request, how long the loaded model may stay idle, as a client asked for it; null: until
   *  memory runs short. */
  keepFor(ms: number | null): void;
  /** When the model will be unloaded if unused; null: never. */
  expiresAt(): number | null;
  close(): void;
};

/** Minimum idle time even if memory is short, so that a model is not unloaded between question and answer. */
const LEAST_MS = 60_000;
const LOOK_MS = 5000;
const minuteMs = 60_000;

/** Unloads a model that has been idle for a while, or whose memory other programs need. The next request
 *  loads it again. Before that, and during an answer, a shortage makes it free what can be computed again. */
export function createIdleUnload({ engine, minutes, memoryIsShort }: KeepAliveOptions): KeepAlive {
  let idleSince: number | null = null;
  let loaded = false;
  let asked: { ms: number | null } | null = null;
  const timer = setInterval(guarded(console.error, look), LOOK_MS);
  timer.unref();

  function mostMs(): number | null {
    if (asked) return asked.ms;
    const most = minutes();
    return most === null ? null : most * minuteMs;
  }

  function look() {
    if (!loaded) return;
    const idle = idleSince === null ? 0 : Date.now() - idleSince;
    const most = mostMs();
    if (idleSince !== null && most !== null && idle >= most) return unload();
    if (!memoryIsShort()) return;
    if (idle >= LEAST_MS) unload();
    else engine.ask('relieveMemory', null).catch(() => {}); // the process is gone, and its memory with it
  }

  function unload() {
    idleSince = null;
    asked = null;
    engine.unload().catch(() => {}); // the same
  }

  /** Immediate unloads do not wait for the next check. */
  const goAtOnce = () => {
    if (asked?.ms === 0) look();
  };

  return {
    status(status) {
      if (status.phase === 'busy') asked = null;
      loaded = status.phase === 'ready' || status.phase === 'busy';
      if (status.phase !== 'ready') {
        idleSince = null;
        return;
      }
      idleSince ??= Date.now();
      goAtOnce();
    },
    keepFor(ms) {
      asked = { ms };
      goAtOnce();
    },
    expiresAt() {
      const most = mostMs();
      return most === null ? null : (idleSince ?? Date.now()) + most;
    },
    close: () => clearInterval(timer),
  };
}
