import { expect, test } from 'vitest';
import { segmentOfLine, segmentsOf } from '../../../../../app/documents/parse/pdf/lines.ts';
import type { PageWord } from '../../../../../app/documents/parse/pdf/words.ts';

//  Words of a page that stand on one line become a segment; a gutter parts them. Words are 10 points high and 20 wide.

type Place = Partial<Pick<PageWord, 'left' | 'right' | 'baseline' | 'size' | 'spaced' | 'tracking' | 'top' | 'bottom'>>;

function word(text: string, left: number, more: Place = {}): PageWord {
  const { baseline = 100, size = 10 } = more;
  const place = {
    left,
    right: left + 20,
    top: baseline - size,
    bottom: baseline,
    baseline,
    size,
    tracking: 0,
    spaced: false,
  };
  return { text, font: { bold: false }, box: [0, 0, 0, 0], ...place, ...more } as unknown as PageWord;
}
const texts = (words: readonly PageWord[]) =>
  segmentsOf(words).map((segment) => segment.words.map(({ text, spaced }) => (spaced ? ' ' : '') + text).join(''));

test.each([
  ['a gap of less than an em', [word('one', 0), word('two', 29.9)], ['one two']],
  ['a gap of an em', [word('one', 0), word('two', 30)], ['one', 'two']],
  ['no gap', [word('lan', 0), word('tern', 20)], ['lantern']],
  ['a gap that is a space', [word('one', 0), word('two', 21.5)], ['one two']],
  ['a gap of letters', [word('lan', 0), word('tern', 21.3)], ['lantern']],
  ['letters set apart', [word('lan', 0, { tracking: 2 }), word('tern', 23.3)], ['lantern']],
  ['half an em over each other', [word('one', 0), word('two', 15.1)], ['onetwo']],
  ['another line', [word('one', 0), word('two', 22, { baseline: 112 })], ['one', 'two']],
  ['a little lower', [word('one', 0), word('two', 22, { baseline: 102.5 })], ['one two']],
  ['a small word raised', [word('one', 0), word('2', 20, { baseline: 96, size: 6 })], ['one2']],
  ['a small word above', [word('one', 0), word('2', 20, { baseline: 92, size: 6 })], ['2', 'one']],
  ['drawn later', [word('one', 0), word('below', 0, { baseline: 140 }), word('two', 22)], ['one two', 'below']],
  [
    'drawn later, too far',
    [word('one', 0), word('below', 0, { baseline: 140 }), word('two', 26)],
    ['one', 'two', 'below'],
  ],
  ['a marker and its item', [word('1.', 0, { right: 10 }), word('lantern', 49.9)], ['1. lantern']],
  ['a marker and a column', [word('1.', 0, { right: 10 }), word('lantern', 50)], ['1.', 'lantern']],
  ['a word and a column', [word('one', 0, { right: 10 }), word('lantern', 26)], ['one', 'lantern']],
  ['drawn from right to left', [word('two', 22), word('one', 0)], ['one two']],
  ['Chinese', [word('你', 0), word('好', 22)], ['你好']],
  ['Hebrew', [word('אב', 0), word('גד', 22), word('הו', 44)], [' הו גד אב']],
  [
    'Hebrew around English',
    [word('אב', 0), word('two', 22), word('words', 44), word('הו', 66), word('גד', 88)],
    [' גד הו two words אב'],
  ],
] as const)('words on one line: %s', (_, words, lines) => {
  expect(texts(words.map((one) => ({ ...one })))).toEqual(lines);
});

test('a segment is as large as its words, on the line of the largest', () => {
  const [segment] = segmentOfLine([
    word('one', 5, { baseline: 99, size: 10 }),
    word('two', 22, { baseline: 100, size: 12, bottom: 103 }),
    word('3', 40, { baseline: 96, size: 6, right: 44 }),
  ]);
  expect(segment).toMatchObject({ left: 5, right: 44, top: 88, bottom: 103, baseline: 100, size: 12 });
  expect(segment?.words).toHaveLength(3);
  expect(segmentOfLine([])).toEqual([]);
});
