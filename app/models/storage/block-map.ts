import type { Bytes } from '../network/download-error.ts';

/** The unit of the journal and of repairs: the most that a fault can cost a connection. */
export const BLOCK: Bytes = 1024 * 1024;
/** Maximum blocks per request, so that several connections share a file and an interruption costs little. */
const STRIPE_BLOCKS = 32;

export type Stripe = { first: number; count: number };

/** Which blocks of a file are present, and which are claimed by a connection. */
export class BlockMap {
  readonly size: Bytes;
  readonly count: number;
  readonly #state: Uint8Array; // 0 missing, 1 claimed, 2 present
  #here = 0;

  constructor(size: Bytes, here: Iterable<number> = []) {
    this.size = size;
    this.count = Math.ceil(size / BLOCK);
    this.#state = new Uint8Array(this.count);
    for (const block of here) this.arrived(block);
  }

  start(block: number): Bytes {
    return block * BLOCK;
  }
  length(block: number): Bytes {
    return Math.min(BLOCK, this.size - block * BLOCK);
  }
  has(block: number): boolean {
    return this.#state[block] === 2;
  }
  get complete(): boolean {
    return this.#here === this.count;
  }
  get bytesHere(): Bytes {
    const last = this.count - 1;
    const shortBy = this.count > 0 && this.has(last) ? BLOCK - this.length(last) : 0;
    return this.#here * BLOCK - shortBy;
  }

  arrived(block: number): void {
    if (this.#state[block] !== 2) this.#here++;
    this.#state[block] = 2;
  }
  lost(block: number): void {
    if (this.#state[block] === 2) this.#here--;
    this.#state[block] = 0;
  }

  /** Claims the next run of missing blocks; null if every block is present or claimed. */
  claim(most = STRIPE_BLOCKS): Stripe | null {
    const first = this.#state.indexOf(0);
    if (first < 0) return null;
    let count = 0;
    while (count < most && this.#state[first + count] === 0) this.#state[first + count++] = 1;
    return { first, count };
  }
  /** Releases the unfinished part of a claim. */
  release(stripe: Stripe): void {
    for (let block = stripe.first; block < stripe.first + stripe.count; block++) {
      if (this.#state[block] === 1) this.#state[block] = 0;
    }
  }
}
