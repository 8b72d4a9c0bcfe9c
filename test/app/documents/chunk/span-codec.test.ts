import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packSpans, unpackSpans } from '../../../../app/documents/chunk/span-codec.ts';
import type { Place, Span } from '../../../../app/protocol/index.ts';
import { fuzzed } from '../../../support/soak.ts';

const twentieths = fc.integer({ min: -20_000, max: 400_000 }).map((value) => value / 20);
const rectangle = fc.tuple(twentieths, twentieths, twentieths, twentieths);
const place: fc.Arbitrary<Place> = fc.oneof(
  fc.record({
    kind: fc.constant('page' as const),
    page: fc.integer({ min: 1, max: 10_000 }),
    rectangles: fc.array(rectangle, { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('block' as const), block: fc.nat(), start: fc.nat(), end: fc.nat() }),
  fc.record({
    kind: fc.constant('cells' as const),
    sheet: fc.string(),
    range: fc.string(),
    block: fc.nat(),
    start: fc.nat(),
    end: fc.nat(),
  }),
);
const spans: fc.Arbitrary<Span[]> = fc
  .array(fc.tuple(fc.nat(500), fc.nat(500), place), { maxLength: 20 })
  .map((list) => {
    let at = 0;
    return list.map(([gap, length, where]) => {
      const start = at + gap;
      at = start + length;
      return { start, end: at, place: where };
    });
  });

test('spans come back as they were, to a twentieth of a point', () => {
  fc.assert(
    fc.property(spans, (list) => {
      expect(unpackSpans(packSpans(list))).toEqual(list);
    }),
    fuzzed(300),
  );
});

test('a word takes about ten bytes', () => {
  const words = Array.from({ length: 250 }, (_, at): Span => {
    const [row, column] = [Math.floor(at / 10), at % 10];
    const box: [number, number, number, number] = [60 + column * 45.35, 80 + row * 14.2, 38.4 + (at % 5), 12.3];
    return { start: at * 7, end: at * 7 + 6, place: { kind: 'page', page: 3, rectangles: [box] } };
  });
  expect(packSpans(words).length).toBeLessThan(250 * 10);
});

test('places of an older version, which said `at`, are read', () => {
  const old = { at: 'cells', sheet: 'Sales', range: 'A2:C2', block: 3 };
  const bytes = packSpans([{ start: 2, end: 9, place: old as unknown as Place }]);
  const { at, ...rest } = old;
  expect(unpackSpans(bytes)).toEqual([{ start: 2, end: 9, place: { kind: at, ...rest } }]);
});
