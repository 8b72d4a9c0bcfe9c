import type { Tokenizer } from './tokenizer.ts';

/** What every token of a vocabulary of `rows` adds to a text, for a grammar: all bytes one after the other, and where each
 *  token's end. Control tokens and other markers are no text: they are a byte that UTF-8 does not use and their number. */
export function tokenTexts(tokenizer: Tokenizer, rows: number): { bytes: Uint8Array; ends: Uint32Array } {
  const ends = new Uint32Array(rows);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let id = 0; id < rows; id++) {
    const bytes = tokenizer.markerOf(id) ? markerText(id) : id < tokenizer.size ? tokenizer.bytes.of(id) : NOTHING;
    parts.push(bytes);
    length += bytes.length;
    ends[id] = length;
  }
  return { bytes: Buffer.concat(parts), ends };
}

export const markerText = (id: number): Uint8Array => Uint8Array.of(0xff, id >> 16, (id >> 8) & 0xff, id & 0xff);

const NOTHING = new Uint8Array(0);
