import { type Bytes, DownloadError } from '../network/download-error.ts';
import { type Network, request } from '../network/http-request.ts';
import type { RemoteFile } from '../sources/remote-file.ts';
import { hashOf } from '../storage/block-hash.ts';
import { BLOCK, type Stripe } from '../storage/block-map.ts';
import type { FileJournal } from './journal.ts';
import type { PartFile } from './part-file.ts';
import type { Throttle } from './throttle.ts';

/** State shared by the connections of one file. */
export type Transfer = {
  file: RemoteFile;
  part: PartFile;
  journal: FileJournal;
  net: Network;
  throttle: Throttle;
  signal: AbortSignal;
  /** Called for every chunk written. */
  progress: (bytes: Bytes) => void;
  /** Finished blocks not yet in the journal. */
  finished: { block: number; sha256: string }[];
};

/** Maximum finished blocks that a crash may lose. */
const MAX_UNSAVED = 4;

/** Downloads stripe after stripe until none is left. Several connections work on one file. */
export async function runConnection(transfer: Transfer): Promise<void> {
  for (;;) {
    const stripe = transfer.journal.map.claim();
    if (!stripe) return;
    try {
      await fetchStripe(transfer, stripe);
    } finally {
      transfer.journal.map.release(stripe);
    }
  }
}

/** One request. Complete blocks are kept even if it fails in the middle. */
async function fetchStripe(transfer: Transfer, stripe: Stripe): Promise<void> {
  const { file, journal, net, signal } = transfer;
  const { map } = journal;
  const first = map.start(stripe.first);
  const lastBlock = stripe.first + stripe.count - 1;
  const end = map.start(lastBlock) + map.length(lastBlock);
  const answer = await request(await file.address(), { first, last: end - 1 }, journal.etag, signal, net);
  if (answer.size !== null && answer.size !== file.size) {
    throw new DownloadError(
      'remote-changed',
      `[download] the server's file has ${answer.size} bytes, ${file.size} were expected`,
    );
  }
  if (answer.etag && !journal.etag) journal.pin(answer.etag);

  // Without range support the file comes from its first byte: blocks that are already here are skipped. Data
  // beyond the end is ignored.
  const last = answer.ranged ? end : file.size;
  const writer = new BlockWriter(transfer, answer.ranged ? first : 0, last);
  for await (const chunk of answer.body) {
    await transfer.throttle.take(chunk.length, signal);
    await writer.take(chunk);
    transfer.progress(chunk.length);
    if (transfer.finished.length >= MAX_UNSAVED) await saveFinished(transfer);
    if (writer.at >= last) break;
  }
  if (writer.at < last) {
    throw new DownloadError('network', `[download] the connection ended at byte ${writer.at}, ${last} were announced`, {
      transient: true,
    });
  }
}

/** Cuts a stream into blocks, hashes them on the fly, and writes the missing ones, each in one go, since partial blocks count
 *  for nothing and every write costs processor time. */
class BlockWriter {
  at: Bytes;
  readonly #end: Bytes;
  readonly #transfer: Transfer;
  #held: Uint8Array[] = [];
  #bytes: Bytes = 0;

  constructor(transfer: Transfer, at: Bytes, end: Bytes) {
    this.#transfer = transfer;
    this.at = at;
    this.#end = end;
  }

  async take(chunk: Uint8Array): Promise<void> {
    const { part, journal, finished } = this.#transfer;
    const { map } = journal;
    let rest = chunk.subarray(0, this.#end - this.at);
    while (rest.length > 0) {
      const block = Math.floor(this.at / BLOCK);
      const blockEnd = map.start(block) + map.length(block);
      const piece = rest.subarray(0, blockEnd - this.at);
      if (!map.has(block)) {
        this.#held.push(piece);
        this.#bytes += piece.length;
      }
      this.at += piece.length;
      rest = rest.subarray(piece.length);
      if (this.at < blockEnd) return;
      const pieces = this.#held;
      const bytes = this.#bytes;
      this.#held = [];
      this.#bytes = 0;
      // Another connection completed this block in the meantime.
      if (map.has(block) || bytes < map.length(block)) continue;
      await part.write(pieces, map.start(block));
      const sha256 = hashOf(pieces);
      map.arrived(block);
      finished.push({ block, sha256 });
    }
  }
}

/** Syncs finished blocks, then records them in the journal: in this order, so that the journal is never wrong. After a failed
 *  sync the system may have dropped data: those blocks are downloaded again. */
export async function saveFinished({ finished, part, journal }: Transfer): Promise<void> {
  if (finished.length === 0) return;
  const batch = finished.splice(0);
  try {
    await part.sync();
    journal.commit(batch);
  } catch (error) {
    for (const { block } of batch) journal.map.lost(block);
    throw error;
  }
}
