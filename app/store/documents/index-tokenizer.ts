//  Normalisation of passages and queries for the full-text index: NFKC, lower case, without accents; scripts without spaces
//  between words as overlapping character bigrams.

const MARKS = /[\u0300-\u036f]/g;
/** Han, kana, hangul, Thai, Lao, Khmer, Burmese. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const ASCII = /^[\x20-\x7e\s]*$/;

/** The text in indexed form. */
export function indexed(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const folded = text.normalize('NFKC').toLowerCase().normalize('NFD').replace(MARKS, '').normalize('NFC');
  return folded.replaceAll('\u00ad', '').replace(UNSPACED, (run) => ` ${pairs(run).join(' ')} `);
}

/** The words of a text in indexed form, before stemming. */
export const wordsOf = (text: string): string[] => indexed(text).match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? [];

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** `camelCase`, `snake_case`, `v2.3.1`, `AB-1234`, `a/b.ts`, `std::vector`: identifiers that are searched by parts. */
const CODE_LIKE =
  /(?<![\w])(?=[\w$./:@#+-]{3,120})(?:\w*[a-z][A-Z]\w*|[\w$@#]+(?:[._/:+#-]+[\w$]+)+|\w*\d\w*[A-Za-z]\w*|\w*[A-Za-z]\w*\d\w*|\d{4,}|\w*_\w+)/g;

/** The identifiers in a text. */
export const codesOf = (text: string): string[] => [...new Set(text.match(CODE_LIKE) ?? [])];
