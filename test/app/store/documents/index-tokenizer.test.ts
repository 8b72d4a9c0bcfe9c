import { expect, test } from 'vitest';
import { codesOf, indexed, wordsOf } from '../../../../app/store/documents/index-tokenizer.ts';

test.each([
  ['Größe, CAFÉ und naïve', ['große', 'cafe', 'und', 'naive']],
  ['ﬁne ｗｉｄｅ ①', ['fine', 'wide', '1']],
  ['Ελλάδα Йод', ['ελλαδα', 'иод']],
  ['co\u00adoperate', ['cooperate']],
])('words without case, accents and forms: %s', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test('scripts without spaces are pairs of characters that overlap', () => {
  expect(wordsOf('東京都は大きい')).toEqual(['東京', '京都', '都は', 'は大', '大き', 'きい']);
  expect(wordsOf('A東B')).toEqual(['a', '東', 'b']);
  expect(indexed('plain text')).toBe('plain text');
});

test('names of code are told from words', () => {
  expect(
    codesOf(
      'Call parseDuration or max_value in src/time.ts v2.3.1 with ERR404, std::vector and AB-1234 on a plain day.',
    ),
  ).toEqual(['parseDuration', 'max_value', 'src/time.ts', 'v2.3.1', 'ERR404', 'std::vector', 'AB-1234']);
  expect(codesOf('An ordinary sentence, with nothing in it.')).toEqual([]);
});
