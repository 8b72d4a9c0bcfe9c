// What becomes of each line of a Markdown file, and which lines a block is said to stand on.
import { expect, test } from 'vitest';
import { piecesOf, plain, readMarkdown } from '../../../../../app/documents/parse/formats/markdown.ts';
import { readAlone, shown } from '../../../../support/documents/read-alone.ts';

const linesOf = (text: string) =>
  [...piecesOf(text.split('\n'))].map((piece) => {
    if (piece.where.kind !== 'lines') throw new Error('lines are expected');
    const [from, to] = [piece.where.from, piece.where.from + piece.where.starts.length - 1];
    return `${from === to ? from : `${from}-${to}`} ${shown(piece)}`;
  });

const long = 'word '.repeat(400);

test.each([
  ['a heading with signs at its end', '# One #\n\n###### Six', ['1 heading1: One', '3 heading6: Six']],
  ['a heading without words', '##\ntext', ['2 paragraph: text']],
  [
    'underlined headings',
    'One\n===\nTwo\nlines\n---\ntext',
    ['1 heading1: One', '3-4 heading2: Two\nlines', '6 paragraph: text'],
  ],
  ['rules', 'a\n\n***\n\n- - -\n\n___', ['1 paragraph: a', '3 rule: ', '5 rule: ', '7 rule: ']],
  ['a fence', '```js\na();\n\nb();\n```\ntext', ['2-4 code: a();\n\nb();', '6 paragraph: text']],
  ['a fence of one line', '~~~\nwait(); ~~~\n~~~', ['2 code: wait(); ~~~']],
  ['a fence in a fence', '````\n```\na\n```\n````\ntext', ['2-4 code: ```\na\n```', '6 paragraph: text']],
  ['an empty fence', '```\n```\ntext', ['3 paragraph: text']],
  ['a fence that nobody ends', '```\na();', ['2 code: a();']],
  ['code by its indent', '    a();\n\t*b*();\ntext', ['1-2 code: a();\n*b*();', '3 paragraph: text']],
  ['an entry that is indented like code', '    - a', ['1 item: a']],
  [
    'entries',
    '- one\n  goes on\n* two\n3) three\n\ntext',
    ['1-2 item: one\ngoes on', '3 item: two', '4 item: 3) three', '6 paragraph: text'],
  ],
  ['a quotation', '> one\n> two\nthree', ['1-2 quote: one\ntwo', '3 paragraph: three']],
  [
    'a paragraph up to each kind of block',
    'a\n# b\nc\n- d\n\ne\n> f\ng\n```\nh\n```\ni\n***',
    [
      '1 paragraph: a',
      '2 heading1: b',
      '3 paragraph: c',
      '4 item: d',
      '6 paragraph: e',
      '7 quote: f',
      '8 paragraph: g',
      '10 code: h',
      '12 paragraph: i',
      '13 rule: ',
    ],
  ],
  [
    'a table',
    '| a | b |\n|---|:-:|\n| 1 | 2 \\| 3 |\n\ntext',
    ['1 row*: a | b', '3 row: 1 | 2 | 3', '5 paragraph: text'],
  ],
  ['a table without outer bars, up to the end', 'a | b\n-|-\n1 | 2', ['1 row*: a | b', '3 row: 1 | 2']],
  ['bars without a rule below', 'a | b\nc | d', ['1-2 paragraph: a | b\nc | d']],
  ['front matter', '---\ntitle: a\n---\ntext', ['4 paragraph: text']],
  ['front matter that ends with dots', '---\ntitle: a\n...\ntext', ['4 paragraph: text']],
  ['front matter that does not end', '---\ntitle: a', ['1 rule: ', '2 paragraph: title: a']],
  ['a rule further down', 'a\n\n---\n\nb', ['1 paragraph: a', '3 rule: ', '5 paragraph: b']],
  [
    'a line so long that it is text as it stands',
    `a\n${long}*b*\n- c`,
    ['1 paragraph: a', `2 paragraph: ${long}*b*`, '3 item: c'],
  ],
  ['such a line below an entry', `- a\n${long}b`, ['1 item: a', `2 paragraph: ${long}b`]],
  ['such a line below a table', `a|b\n-|-\n${long}|b`, ['1 row*: a | b', `3 paragraph: ${long}|b`]],
  ['such a line of spaces', `a\n${' '.repeat(2001)}\nb`, ['1 paragraph: a', '3 paragraph: b']],
])('%s', (_, text, expected) => expect(linesOf(text)).toEqual(expected));

test('markup is left out of lines of 2,000 characters, and stays in longer ones', () => {
  const of = (length: number) => `*a* ${'b'.repeat(length - 4)}`;
  expect(linesOf(of(2000))).toEqual([`1 paragraph: a ${'b'.repeat(1996)}`]);
  expect(linesOf(of(2001))).toEqual([`1 paragraph: ${of(2001)}`]);
});

test('front matter has less than a hundred lines', () => {
  const of = (lines: number) => linesOf(`---\n${'a: b\n'.repeat(lines)}---\ntext`);
  expect(of(98)).toEqual(['101 paragraph: text']);
  expect(of(99)[0]).toBe('1 rule: ');
});

test.each([
  ['**a** *b* ***c*** ~~d~~ __e__ _f_', 'a b c d e f'],
  ['snake_case_name and 2*3*4', 'snake_case_name and 234'],
  ['[a](http://b) [c][d] ![e](f.png) <https://g.org> <h@i.org>', 'a c e https://g.org h@i.org'],
  ['`*a*` and ``b ` c`` are <b>code</b>', '*a* and b ` c are code'],
  ['\\*a\\* \\[b\\]', '*a* [b]'],
])('without markup %s reads %s', (text, expected) => expect(plain(text)).toBe(expected));

test('the title is the first heading', async () => {
  const { title, lines } = await readAlone(readMarkdown, 'a.md', 'text\n\n## Tea\n\n# Coffee\n');
  expect(title).toBe('Tea');
  expect(lines).toEqual(['paragraph: text', 'heading2: Tea', 'heading1: Coffee']);
  expect((await readAlone(readMarkdown, 'a.md', 'text')).title).toBeNull();
});
