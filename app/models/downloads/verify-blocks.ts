import { type Network, request } from '../network/http-request.ts';
import type { RemoteFile } from '../sources/remote-file.ts';
import { hashOf } from '../storage/block-hash.ts';
import type { FileJournal } from './journal.ts';
import type { PartFile } from './part-file.ts';

/** Blocks whose bytes on disk have changed since they were written: by disk errors or another program. */
export async function damagedBlocks(part: PartFile, journal: FileJournal, signal: AbortSignal): Promise<number[]> {
  const damaged: number[] = [];
  for (let block = 0; block < journal.map.count; block++) {
    signal.throwIfAborted();
    const known = journal.hashOf(block);
    if (known === null || (await part.hashOfBlock(journal.map, block)) !== known) damaged.push(block);
  }
  return damaged;
}

/** Downloads the file again without writing it and yields the blocks that differ: bytes damaged in transfer. Data
 *  beyond the end is ignored. */
export async function* blocksThatDiffer(
  file: RemoteFile,
  journal: FileJournal,
  net: Network,
  signal: AbortSignal,
): AsyncGenerator<{ block: number; differs: boolean }> {
  const answer = await request(await file.address(), { first: 0, last: file.size - 1 }, journal.etag, signal, net);
  let block = 0;
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    let rest = chunk;
    while (rest.length > 0 && block < journal.map.count) {
      const piece = rest.subarray(0, journal.map.length(block) - bytes);
      held.push(piece);
      bytes += piece.length;
      rest = rest.subarray(piece.length);
      if (bytes < journal.map.length(block)) break;
      yield { block, differs: hashOf(held) !== journal.hashOf(block) };
      block++;
      held = [];
      bytes = 0;
    }
    if (block === journal.map.count) return;
  }
}
