import type { DocumentId } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

/** The maximum of one call. */
const PIECE = 1 << 20;

export type Bytes = Uint8Array<ArrayBuffer>;

function decode(base64: string): Bytes {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Bytes [start, end) of the stored copy, and its size. */
export async function readBytes(
  documentId: DocumentId,
  start: number,
  end: number,
): Promise<{ bytes: Bytes; total: number }> {
  const parts: Bytes[] = [];
  let at = start;
  let total = Number.POSITIVE_INFINITY;
  while (at < Math.min(end, total)) {
    const piece = await core.call('documents.bytes', { documentId, start: at, end: Math.min(end, at + PIECE) });
    const bytes = decode(piece.base64);
    total = piece.total;
    if (bytes.length === 0) break;
    parts.push(bytes);
    at += bytes.length;
  }
  return { bytes: joined(parts, at - start), total: Number.isFinite(total) ? total : 0 };
}

function joined(parts: readonly Bytes[], length: number): Bytes {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The whole file, to save on the user's disk. */
export const readAll = async (documentId: DocumentId): Promise<Bytes> =>
  (await readBytes(documentId, 0, Number.POSITIVE_INFINITY)).bytes;
