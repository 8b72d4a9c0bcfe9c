import { expect, test } from 'vitest';
import { createChunker } from '../../../../app/documents/chunk/chunker.ts';
import { locationOfPassage } from '../../../../app/documents/chunk/location.ts';
import { MAX_PIECE, portionsOf } from '../../../../app/documents/chunk/portions.ts';
import { unpackSpans } from '../../../../app/documents/chunk/span-codec.ts';
import { countTokens } from '../../../../app/documents/chunk/token-estimate.ts';
import { type Element, row } from '../../../../app/documents/element.ts';
import { pieceOfLines } from '../../../../app/documents/parse/formats/text.ts';

const MOST = 230;

function split(pieces: readonly Element[]) {
  const splitter = createChunker({ most: MOST });
  return [...pieces.flatMap((piece) => splitter.add(piece).passages), ...splitter.end()];
}
const paragraph = (text: string): Element => ({ kind: 'paragraph', text, where: { kind: 'block' } });
const heading = (level: number, text: string): Element => ({ kind: 'heading', level, text, where: { kind: 'block' } });
const sentences = (count: number, of: string) =>
  Array.from({ length: count }, (_, at) => `Sentence ${at} is about the ${of} and nothing else.`).join(' ');

test('every word is in a passage, none is too long, and parts overlap by one sentence', () => {
  const text = sentences(80, 'weather');
  const passages = split([paragraph(text)]);
  expect(passages.length).toBeGreaterThan(4);
  for (const passage of passages) expect(countTokens(passage.text)).toBeLessThanOrEqual(MOST);
  // What is repeated is known, so that the whole text can be put together again.
  expect(passages.map((one) => one.text.slice(one.overlap).trim()).join(' ')).toBe(text);
  const [first, second] = passages;
  expect(second?.overlap).toBeGreaterThan(0);
  expect(first?.text.endsWith(second?.text.slice(0, second.overlap) ?? '?')).toBe(true);
});

test('a heading begins a passage, and all passages of its section know the headings above', () => {
  const passages = split([
    heading(1, 'Book'),
    heading(2, 'Rivers'),
    paragraph(sentences(70, 'river')),
    heading(2, 'Roads'),
    paragraph(sentences(10, 'road')),
  ]);
  expect(passages[0]).toMatchObject({ headings: [] });
  expect(passages[0]?.text.startsWith('Book\n\nRivers\n\nSentence 0')).toBe(true);
  const middle = passages.slice(1, -1);
  expect(middle.length).toBeGreaterThan(1);
  for (const { headings } of middle) expect(headings).toEqual(['Book', 'Rivers']);
  expect(passages.at(-1)?.headings).toEqual(['Book']);
  expect(passages.at(-1)?.text.startsWith('Roads')).toBe(true);
});

test.each([12, 30])(
  'a paragraph of %d sentences that is set as a heading is text, and stands over nothing',
  (count) => {
    const passages = split([
      heading(1, 'Book'),
      heading(2, sentences(count, 'weather')),
      paragraph(sentences(40, 'river')),
    ]);
    for (const { text, headings } of passages) {
      expect(countTokens(text)).toBeLessThanOrEqual(MOST);
      expect(headings.join()).not.toContain('weather');
    }
  },
);

test('what gives way to a long paragraph takes no room from what follows', () => {
  const long = sentences(17, 'weather');
  const next = `${sentences(16, 'harvest')} And so on.`;
  const short = 'Yes.';
  const [most, more] = [countTokens(long), countTokens(next)];
  // The last sentence of the first paragraph does not fit beside the second one, the third one does.
  expect(most).toBeLessThanOrEqual(MOST);
  expect(more + countTokens(short)).toBeLessThanOrEqual(MOST);
  expect(more + 13).toBeGreaterThan(MOST);
  const passages = split([paragraph(long), paragraph(next), paragraph(short)]);
  expect(passages.map(({ text }) => text)).toEqual([long, `${next}\n\n${short}`]);
});

test('short sections share a passage', () => {
  const passages = split(['One', 'Two', 'Three'].flatMap((name) => [heading(2, name), paragraph(`${name} is short.`)]));
  expect(passages).toHaveLength(1);
});

test('the head of a table stands over every part of it', () => {
  const row = (cells: string[], at: number): Element => ({
    kind: 'row',
    cells,
    text: cells.join(' | '),
    ...(at === 0 && { head: true }),
    where: { kind: 'cells', sheet: 'S', range: `A${at + 1}:B${at + 1}` },
  });
  const passages = split(
    Array.from({ length: 200 }, (_, at) => row(at === 0 ? ['Name', 'Height'] : [`Mount ${at}`, `${at * 10} m`], at)),
  );
  expect(passages.length).toBeGreaterThan(3);
  for (const { text } of passages) expect(text.startsWith('Name | Height\n')).toBe(true);
  // A passage begins with its own rows, not with the head that is repeated.
  const [first, second] = passages.map(locationOfPassage);
  expect(first).toEqual({ kind: 'cells', range: expect.stringMatching(/^A1:B/) });
  expect(second).toEqual({ kind: 'cells', range: expect.stringMatching(/^A[2-9]\d*:B\d+$/) });
});

test('a text without spaces or sentences is cut all the same, and never inside a character', () => {
  const passages = split([paragraph('🙂'.repeat(3000)), paragraph('x'.repeat(20_000))]);
  for (const { text } of passages) {
    expect(countTokens(text)).toBeLessThanOrEqual(MOST);
    expect(text.isWellFormed()).toBe(true);
  }
  expect(
    passages
      .map(({ text, overlap }) => text.slice(overlap))
      .join('')
      .replace(/\s/g, '').length,
  ).toBe(6000 + 20_000);
});

test('a span of a page passage is the word at its place', () => {
  const text = sentences(70, 'page');
  const words = [...text.matchAll(/\S+/g)].map((match, at) => ({
    start: match.index,
    end: match.index + match[0].length,
    page: 1 + Math.floor(at / 100),
    box: [at, at, 1, 1] as [number, number, number, number],
  }));
  const passages = split([{ kind: 'paragraph', text, where: { kind: 'page', words } }]);
  for (const passage of passages) {
    for (const { start, end, place } of unpackSpans(passage.spans)) {
      if (place.kind !== 'page') throw new Error('a page is expected');
      const word = words[place.rectangles[0]?.[0] ?? -1];
      expect(passage.text.slice(start, end)).toBe(text.slice(word?.start, word?.end));
      expect(place.page).toBe(word?.page);
    }
  }
});

test('a piece that is far too long goes on in portions, each where it stands', () => {
  const lines = Array.from({ length: 3000 }, (_, at) => `Line ${at} of a long paragraph.`);
  const whole = pieceOfLines('paragraph', lines, 9);
  const portions = [...portionsOf(whole)];
  expect(portions.length).toBeGreaterThan(5);
  expect(portions.map(({ text }) => text).join('\n')).toBe(whole.text);
  for (const { text, where } of portions) {
    expect(text.length).toBeLessThanOrEqual(MAX_PIECE);
    if (where.kind !== 'lines') throw new Error('lines are expected');
    const own = text.split('\n');
    expect(where.starts).toHaveLength(own.length);
    for (const [at, start] of where.starts.entries()) {
      expect(text.slice(start).split('\n')[0]).toBe(own[at]);
      expect(own[at]).toBe(lines[where.from + at - 10]);
    }
  }
  const words = lines.map((_, at) => ({ start: at * 10, end: at * 10 + 9, page: 1, box: [at, 0, 9, 9] as const }));
  const paged = {
    kind: 'paragraph',
    text: 'word word '.repeat(3000),
    where: { kind: 'page', words },
  } as unknown as Element;
  let place = 0;
  for (const { text, where } of portionsOf(paged)) {
    if (where.kind !== 'page') throw new Error('a page is expected');
    for (const { start, end, box } of where.words) {
      expect(box[0]).toBe(place++);
      expect(text.slice(start, end)).toBe('word word');
    }
  }
  expect(place).toBe(3000);
  const cells = ['short', 'x'.repeat(20_000), ...Array.from({ length: 5000 }, (_, at) => `cell ${at}`)];
  const rows = [...portionsOf(row(cells, { kind: 'block' }))];
  expect(rows.flatMap((one) => one.cells ?? []).join('')).toBe(cells.join(''));
  for (const one of rows) expect(one.text.length).toBeLessThanOrEqual(MAX_PIECE + 10);
  expect(
    [...portionsOf({ kind: 'paragraph', text: '\u{1f600}'.repeat(9000), where: { kind: 'block' } })]
      .map(({ text }) => text)
      .join(''),
  ).toBe('\u{1f600}'.repeat(9000));
});
