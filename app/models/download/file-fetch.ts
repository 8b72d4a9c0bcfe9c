import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { fileURLToPath } from 'node:url';

/** `fetch` for `file:` addresses, as a server with ranges answers: so that a folder on the network or on another disk is a
 *  source like any other. Size and time of change stand for the content, as an ETag does. */
export const fileFetch: typeof fetch = async (input, init) => {
  const path = fileURLToPath(input instanceof Request ? input.url : input);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return new Response(null, { status: found.code === 'ENOENT' ? 404 : 503 });
  if (!found.isFile()) return new Response(null, { status: 404 });
  const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(init?.headers).get('range') ?? '');
  const first = range ? Number(range[1]) : 0;
  const last = Math.min(range ? Number(range[2]) : Number.POSITIVE_INFINITY, found.size - 1);
  if (range && first >= found.size) return new Response(null, { status: 416 });
  const headers = {
    etag: `"${found.size}-${Math.trunc(found.mtimeMs)}"`,
    'content-length': String(Math.max(0, last + 1 - first)),
    ...(range && { 'content-range': `bytes ${first}-${last}/${found.size}` }),
  };
  const status = range ? 206 : 200;
  if (found.size === 0) return new Response(null, { status: 200, headers });
  const stream = createReadStream(path, {
    start: first,
    end: last,
    highWaterMark: 1 << 18,
    ...(init?.signal && { signal: init.signal }),
  });
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, { status, headers });
};
