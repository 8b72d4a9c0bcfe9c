import type { Bytes } from '../network/download-error.ts';
import { sleepFor } from '../network/sleep.ts';

const WINDOW_MS = 10_000;
const SETTLE_MS = 3_000;

/** Mean speed of the last ten seconds; none for the first three, when it would only be noise. */
export class Rate {
  readonly #now: () => number;
  readonly #began: number;
  #samples: { at: number; bytes: Bytes }[] = [];

  constructor(now: () => number) {
    this.#now = now;
    this.#began = now();
  }
  add(bytes: Bytes): void {
    const at = this.#now();
    const last = this.#samples.at(-1);
    if (last && at - last.at < 100) last.bytes += bytes;
    else this.#samples.push({ at, bytes });
  }
  bytesPerSecond(): number | null {
    const now = this.#now();
    if (now - this.#began < SETTLE_MS) return null;
    this.#samples = this.#samples.filter((sample) => now - sample.at <= WINDOW_MS);
    const sum = this.#samples.reduce((total, sample) => total + sample.bytes, 0);
    return (sum * 1000) / Math.min(WINDOW_MS, now - this.#began);
  }
  secondsLeft(missing: Bytes): number | null {
    const speed = this.bytesPerSecond();
    return speed ? missing / speed : null;
  }
}

/** Shares a bandwidth limit among connections: `take` resolves when the bytes may be used. */
export class Throttle {
  readonly #now: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  #free = 0;
  #limit: number | null;
  /** A changed limit applies at once, also to those waiting under the old one. */
  #changed = new AbortController();

  constructor(
    bytesPerSecond: number | null,
    now: () => number = () => performance.now(),
    sleep: (ms: number, signal: AbortSignal) => Promise<void> = sleepFor,
  ) {
    this.#limit = bytesPerSecond;
    this.#now = now;
    this.#sleep = sleep;
  }

  get bytesPerSecond(): number | null {
    return this.#limit;
  }

  set bytesPerSecond(limit: number | null) {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#free = 0;
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  /** Rejects at once on abort, whatever the limit. */
  async take(bytes: Bytes, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#limit === null) return;
    const now = this.#now();
    this.#free = Math.max(this.#free, now) + (bytes * 1000) / this.#limit;
    if (this.#free <= now + 50) return;
    await this.#sleep(this.#free - now, AbortSignal.any([signal, this.#changed.signal])).catch(() => {});
    signal.throwIfAborted();
  }
}
