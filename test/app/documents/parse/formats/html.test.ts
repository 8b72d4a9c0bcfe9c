// What of a page is text, and of which kind.
import { expect, test } from 'vitest';
import { piecesOfHtml, readHtml } from '../../../../../app/documents/parse/formats/html.ts';
import { readAlone, shown } from '../../../../support/documents/read-alone.ts';

test.each([
  ['headings of every level', '<h1>A</h1><h6>B</h6><h7>C</h7>', ['heading1: A', 'heading6: B', 'paragraph: C']],
  [
    'text in a heading in a quotation',
    '<blockquote>a<h2>B</h2><p>c</p></blockquote><p>d</p>',
    ['quote: a', 'heading2: B', 'quote: c', 'paragraph: d'],
  ],
  [
    'entries of every kind of list',
    '<ol><li>a<ul><li>b</ul></ol><dl><dt>c<dd>d</dl>',
    ['item: a', 'item: b', 'item: c', 'item: d'],
  ],
  ['line ends', '<p>a<br>b</p><pre>\n\nc<br>d\n  e  \n</pre>', ['paragraph: a b', 'code: c\nd\n  e']],
  ['pictures', '<p>a<img alt="cup">b<img>c</p><div hidden><img alt="no"></div>', ['paragraph: a cup bc']],
  [
    'what is hidden',
    '<p hidden>a</p><p aria-hidden="true">b</p><p aria-hidden="false">c</p><p style="visibility:hidden">d<b>e</b></p><p style="display:block">f</p>',
    ['paragraph: c', 'paragraph: f'],
  ],
  [
    'what is hidden in a sentence',
    '<p>a<span hidden>b<div>c</div></span>d<nav><p>e</p></nav></p>f',
    ['paragraph: ad', 'paragraph: f'],
  ],
  [
    'a table',
    '<table><tr><th>a<th>b</tr><tr><td>c<p>d</p><td></tr><tr><td></td></tr><tr><td>e</table>',
    ['row*: a | b', 'row: c d | ', 'row: e'],
  ],
  ['two tables', '<table><tr><td>a</table><p>b</p><table><tr><td>c</table>', ['row*: a', 'paragraph: b', 'row*: c']],
  ['text in a row that is in no cell', '<table><tr><td>a</td>b</tr></table>', ['row*: a | b']],
  ['a row that is hidden', '<table><tr hidden><td>a</tr><tr><td>b</tr></table>', ['row*: b']],
  [
    'a table in a cell',
    '<table><tr><td>a<table><tr><td>b<td>c</tr></table></td><td>d</tr><tr><td>e</table>',
    ['row*: a b c | d', 'row: e'],
  ],
  ['a row without an end', '<p>a</p><table><tr><td>b</td><td>c', ['paragraph: a', 'row*: b | c']],
  ['spaces that do not break', '<p>a&nbsp;&nbsp;b\n c</p>', ['paragraph: a b c']],
])('%s', (_, html, expected) => expect(piecesOfHtml(html).pieces.map(shown)).toEqual(expected));

test('the title is the first one of the page, and is no text of it', () => {
  const of = (html: string) => piecesOfHtml(html).title;
  expect(of('<head><title> a\n b </title></head><title>c</title><p>d')).toBe('a b');
  expect(of('<svg><title>icon</title></svg><p>d')).toBeNull();
  expect(of('<title> </title><p>d')).toBeNull();
  expect(piecesOfHtml('<title>a</title>b').pieces.map(shown)).toEqual(['paragraph: b']);
});

test('elements may be nested 2,000 deep and no deeper', () => {
  const of = (depth: number) => piecesOfHtml(`${'<b>'.repeat(depth)}a`).pieces.map(shown);
  expect(of(2001)).toEqual(['paragraph: a']);
  expect(() => of(2002)).toThrow('[documents] elements are nested more than 2000 deep');
});

const declared = (charset: string, text: Buffer) =>
  Buffer.concat([Buffer.from(`<meta charset="${charset}"><p>`), text, Buffer.from('</p>')]);

test.each([
  ['the declared one', declared('windows-1251', Buffer.from([0xcc, 0xee])), 'Мо'],
  ['UTF-8 when it is declared', declared('utf-8', Buffer.from('Köln')), 'Köln'],
  ['another when the declared one is unknown', declared('martian', Buffer.from('Köln')), 'Köln'],
  [
    'that of the mark, whatever is declared',
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), declared('windows-1251', Buffer.from('Köln'))]),
    'Köln',
  ],
])('the encoding of a page is %s', async (_, bytes, text) => {
  expect((await readAlone(readHtml, 'a.html', bytes)).lines).toEqual([`paragraph: ${text}`]);
});

test('pages of 64 MB are read, larger ones are refused with their size', async () => {
  expect((await readAlone(readHtml, 'a.html', '<p>a', 64 * 1024 * 1024)).lines).toEqual(['paragraph: a']);
  await expect(readAlone(readHtml, 'a.html', '<p>a', 64 * 1024 * 1024 + 1)).rejects.toMatchObject({
    code: 'too-large',
    message: '[documents] a.html has 67108865 bytes, at most 67108864 are read as HTML',
  });
});
