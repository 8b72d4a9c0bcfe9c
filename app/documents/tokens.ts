//  About how many tokens a text has, without a tokenizer: near enough to keep passages below what encoders take (256).

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;
const WORD = /[\p{L}\p{M}]+|\p{N}|[^\s\p{L}\p{N}\p{M}]/gu;

export function countTokens(text: string): number {
  let tokens = 0;
  const narrow = text.replace(WIDE, () => {
    tokens++;
    return ' ';
  });
  // Words of usual length are one token, long ones several; digits and signs one each.
  for (const [word] of narrow.matchAll(WORD)) tokens += Math.ceil(word.length / 6);
  return tokens;
}
