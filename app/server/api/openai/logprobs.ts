import type { TokenLogprob, TokenScore } from '../../../core/inference.ts';

//  How likely the tokens of an answer were, in the two shapes of the dialect of OpenAI.

const textOf = ({ bytes }: TokenLogprob): string => Buffer.from(bytes).toString();

const tokenObject = (one: TokenLogprob) => ({ token: textOf(one), logprob: one.logprob, bytes: one.bytes });

/** Of a chat. */
export const scoreObject = ({ top, ...token }: TokenScore) => ({
  ...tokenObject(token),
  top_logprobs: top.map(tokenObject),
});

/** Of a chat; null where nobody asked, or no token came. */
export const chatLogprobs = (scores: readonly TokenScore[] = []) =>
  scores.length === 0 ? null : { content: scores.map(scoreObject), refusal: null };

/** Of a text: lists side by side. `offset`: where in it the first of these tokens begins. A part of a character stands as its
 *  bytes, so that two of them are not one key. */
export function textLogprobs(scores: readonly TokenScore[], offset: number) {
  const named = (one: TokenLogprob): string => {
    const text = textOf(one);
    return text.includes('\ufffd') ? `bytes:${one.bytes.map((byte) => `\\x${byte.toString(16)}`).join('')}` : text;
  };
  let at = offset;
  return {
    tokens: scores.map(named),
    token_logprobs: scores.map(({ logprob }) => logprob),
    top_logprobs: scores.map(({ top }) => Object.fromEntries(top.map((one) => [named(one), one.logprob]))),
    text_offset: scores.map((score) => {
      const begin = at;
      at += textOf(score).length;
      return begin;
    }),
  };
}
