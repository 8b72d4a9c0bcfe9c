import { LonghandError } from '../protocol/index.ts';

/** A window of a text; its tokens from `from` on are scored, so that every token is scored once. */
export type Window = { tokens: Int32Array; from: number };

/** Windows of at most `length` tokens, each `stride` further on, as transformers' guide to perplexity cuts them: the first token
 *  of a text is never scored, and every other one as late in a window as it can be.
 *  @throws LonghandError `bad-request` for fewer than two tokens, a window below two, or a stride outside 1 to the window */
export function windowsOf(tokens: Int32Array, length: number, stride: number): Window[] {
  if (tokens.length < 2)
    throw new LonghandError('bad-request', `[eval] the text has ${tokens.length} tokens; at least two are needed`, {
      details: { reason: 'quality-short-text' },
    });
  if (length < 2)
    throw new LonghandError('bad-request', `[eval] a window of ${length} tokens; at least two are needed`);
  if (stride < 1 || stride > length)
    throw new LonghandError('bad-request', `[eval] a stride of ${stride} tokens, expected 1 to ${length}`);
  const windows: Window[] = [];
  let scored = 1;
  for (let begin = 0; scored < tokens.length; begin += stride) {
    const end = Math.min(begin + length, tokens.length);
    // With a stride of the whole window nothing comes before its first token: that one is only read.
    const from = Math.max(scored - begin, 1);
    if (end - begin > from) windows.push({ tokens: tokens.slice(begin, end), from });
    scored = end;
  }
  return windows;
}
