import type { Context } from 'hono';
import { LonghandError, parseJson } from '../../protocol/index.ts';
import { maxBodyBytes } from './access-control.ts';

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new LonghandError('bad-request', '[body] is not JSON: it is not UTF-8');
  }
}

/** The JSON body of a request, limited by actual bytes, since Content-Length may be missing or wrong.
 *  @throws LonghandError `too-large`, `bad-request` */
export async function jsonOf(context: Context): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (context.req.raw.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBodyBytes) {
      throw new LonghandError('too-large', `[body] more than ${maxBodyBytes / 1024 / 1024} MB, which is the limit`);
    }
    chunks.push(chunk);
  }
  return parseJson(textOf(Buffer.concat(chunks)), 'body');
}
