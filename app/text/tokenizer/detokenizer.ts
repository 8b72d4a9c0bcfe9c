import type { Tokenizer } from './tokenizer.ts';

/** Turns ids into text as they come. Text that was given out never changes: an unfinished character is held back. */
export type Detokenizer = {
  /** The text that is certain after this id. Markers come out as their text; see `thinking.ts` for who looks at them. */
  push(id: number): string;
  /** What is left: an unfinished character becomes U+FFFD. */
  flush(): string;
};

/** `continues`: the ids go on from a text, so that a first space is a real one. */
export function createDetokenizer(tokenizer: Tokenizer, options: { continues?: boolean } = {}): Detokenizer {
  // ignoreBOM: a BOM is a character that the model wrote, not a mark of the encoding.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let held: Uint8Array = NOTHING;
  let dropSpace = tokenizer.bytes.dropFirstSpace && !options.continues;

  return {
    push(id) {
      let bytes = tokenizer.bytes.of(id);
      if (bytes.length === 0) return '';
      if (dropSpace && bytes[0] === 0x20) bytes = bytes.subarray(1);
      dropSpace = false;
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const whole = all.length - surrogateTail(all);
      held = all.slice(whole);
      return decoder.decode(all.subarray(0, whole), { stream: true });
    },
    flush() {
      const rest = decoder.decode(held);
      held = NOTHING;
      return rest;
    },
  };
}

const NOTHING = new Uint8Array(0);

/** Bytes at the end that begin an encoded surrogate (ED A0..BF ..). TextDecoder would give them up one by one; held
 *  back, the broken character comes out whole, as Python's incremental decoder has it. */
function surrogateTail(bytes: Uint8Array): number {
  const last = bytes.at(-1) ?? 0;
  if (last === 0xed) return 1;
  return bytes.at(-2) === 0xed && last >= 0xa0 && last <= 0xbf ? 2 : 0;
}

/** All of it at once. */
export function decode(tokenizer: Tokenizer, ids: readonly number[]): string {
  const detokenizer = createDetokenizer(tokenizer);
  let text = '';
  for (const id of ids) text += detokenizer.push(id);
  return text + detokenizer.flush();
}
