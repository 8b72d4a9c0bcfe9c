//  Estimates tokens without a tokenizer: accurate enough to keep passages below the limit of encoders (256).

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;
const WORD = /[\p{L}\p{M}]+|\p{N}|[^\s\p{L}\p{N}\p{M}]/gu;

/** Characters per token at most: white space counts as nothing else, but must not be endless. */
const MAX_TOKEN_LENGTH = 16;

export function countTokens(text: string): number {
  return Math.max(ASCII.test(text) ? countAscii(text) : countAny(text), Math.ceil(text.length / MAX_TOKEN_LENGTH));
}

function countAny(text: string): number {
  let tokens = 0;
  const narrow = text.replace(WIDE, () => {
    tokens++;
    return ' ';
  });
  // Words of ordinary length are one token, long ones several; digits and punctuation one each.
  for (const [word] of narrow.matchAll(WORD)) tokens += Math.ceil(word.length / 6);
  return tokens;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/;

/** The same, several times as fast, for ASCII: most text is, and it is counted more than once. */
function countAscii(text: string): number {
  let tokens = 0;
  let word = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const letter = (code | 32) >= 97 && (code | 32) <= 122;
    if (letter) {
      // The first, seventh, ... letter of a word starts a token.
      if (word % 6 === 0) tokens++;
      word++;
      continue;
    }
    word = 0;
    const space = code === 32 || (code >= 9 && code <= 13);
    if (!space) tokens++;
  }
  return tokens;
}
