import type { Tokenizer } from './tokenizer.ts';

/** The bytes of every token of a vocabulary of `rows`, for grammars: all bytes concatenated, and where each
 *  token's end. Control tokens and other markers are encoded as a byte that UTF-8 does not use, and their id. */
export function tokenTexts(tokenizer: Tokenizer, rows: number): { bytes: Uint8Array; ends: Uint32Array } {
  const ends = new Uint32Array(rows);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let id = 0; id < rows; id++) {
    const bytes = tokenizer.markerOf(id) ? markerText(id) : id < tokenizer.size ? textOf(tokenizer, id) : NOTHING;
    parts.push(bytes);
    length += bytes.length;
    ends[id] = length;
  }
  return { bytes: Buffer.concat(parts), ends };
}

/** The token of the marker byte itself, if there is one, never occurs in text. */
function textOf(tokenizer: Tokenizer, id: number): Uint8Array {
  const bytes = tokenizer.bytes.of(id);
  return bytes.includes(0xff) ? NOTHING : bytes;
}

export const markerText = (id: number): Uint8Array => Uint8Array.of(0xff, id >> 16, (id >> 8) & 0xff, id & 0xff);

const NOTHING = new Uint8Array(0);
