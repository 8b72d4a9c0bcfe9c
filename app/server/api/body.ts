import type { Context } from 'hono';
import { LonghandError } from '../../protocol/index.ts';
import { maxBodyBytes } from './door.ts';

/** The JSON of a request. It is counted while it comes, since a length need not be announced or true.
 *  @throws LonghandError `too-large`, `bad-request` */
export async function jsonOf(context: Context): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (context.req.raw.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBodyBytes) {
      throw new LonghandError('too-large', `[body] more than ${maxBodyBytes / 1024 / 1024} MB came`);
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw new LonghandError('bad-request', `[body] is no JSON: ${(error as Error).message}`);
  }
}
