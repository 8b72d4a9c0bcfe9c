import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { piecesOfRegular } from '../../store/folder/open-regular.ts';
import type { Answered, Open } from './transport.ts';

/** Serves `file:` URLs like an HTTP server with ranges, so that a folder on a network share or another disk is a source
 *  like any other. Size and modification time act as the ETag. */
export const openFile: Open = async (url, asked, signal) => {
  const path = fileURLToPath(url);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return empty(found.code === 'ENOENT' ? 404 : 503);
  if (!found.isFile()) return empty(404);
  const range = /^bytes=(\d+)-(\d+)$/.exec(asked.range ?? '');
  const first = range ? Number(range[1]) : 0;
  const last = Math.min(range ? Number(range[2]) : Number.POSITIVE_INFINITY, found.size - 1);
  if (range && first >= found.size) return empty(416);
  const headers = {
    etag: `"${found.size}-${Math.trunc(found.mtimeMs)}"`,
    'content-length': String(Math.max(0, last + 1 - first)),
    ...(range && { 'content-range': `bytes ${first}-${last}/${found.size}` }),
  };
  if (found.size === 0) return empty(200, headers);
  const body = until(signal, piecesOfRegular(path, { start: first, end: last + 1, atOnce: 1 << 18 }));
  return { ...empty(range ? 206 : 200, headers), body, cancel: () => void body.return(undefined) };
};

async function* until(signal: AbortSignal, pieces: AsyncGenerator<Buffer>): AsyncGenerator<Uint8Array, undefined> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    yield piece;
  }
}

const empty = (status: number, headers: Record<string, string> = {}): Answered => ({
  status,
  header: (name) => headers[name] ?? null,
  body: nothing(),
  cancel: () => {},
});

async function* nothing(): AsyncGenerator<Uint8Array> {}
