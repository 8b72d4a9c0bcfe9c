import type { TokenLogprob, TokenScore } from '../../../core/inference.ts';

//  Log-probabilities in the two formats of OpenAI's API.

const textOf = ({ bytes }: TokenLogprob): string => Buffer.from(bytes).toString();

const tokenObject = (one: TokenLogprob) => ({ token: textOf(one), logprob: one.logprob, bytes: one.bytes });

/** The format of chat completions. */
export const scoreObject = ({ top, ...token }: TokenScore) => ({
  ...tokenObject(token),
  top_logprobs: top.map(tokenObject),
});

/** For chat completions; null if not requested, or without tokens. */
export const chatLogprobs = (scores: readonly TokenScore[] = []) =>
  scores.length === 0 ? null : { content: scores.map(scoreObject), refusal: null };

/** For text completions: parallel lists. `offset`: the position of the first token in the text. Part of a character is written as
 *  bytes, so that keys stay unique. */
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
