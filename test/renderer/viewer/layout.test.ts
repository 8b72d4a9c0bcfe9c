import { expect, test } from 'vitest';
import {
  EDGE,
  GAP,
  layoutOf,
  pageAt,
  scaleOf,
  scrollFor,
  sidewaysTo,
  topOfPage,
  visiblePages,
  zoomStep,
} from '../../../renderer/viewer/layout.ts';

const a4 = { width: 600, height: 800 };

test('a page fits the width of a panel, and is not blown up in a wide window', () => {
  expect(scaleOf('fit', a4, 348)).toBe(0.5);
  expect(scaleOf('fit', a4, 4000) * 600).toBe(860);
  expect(scaleOf(2, a4, 348)).toBe(2);
});

test('pages of a size that is not known yet are as large as the first; a known one moves those below it', () => {
  const plain = layoutOf(3, a4, new Map(), 1);
  expect([...plain.tops]).toEqual([EDGE, EDGE + 800 + GAP, EDGE + 1600 + 2 * GAP]);
  const known = layoutOf(3, a4, new Map([[1, { width: 900, height: 400 }]]), 1);
  expect(topOfPage(known, 2)).toBe(EDGE + 400 + GAP);
  expect(known.width).toBe(900);
});

test('of ten thousand pages only those near the window are drawn', () => {
  const layout = layoutOf(10_000, a4, new Map(), 1);
  const [first, last] = visiblePages(layout, topOfPage(layout, 5000), 900);
  expect(first).toBe(4999);
  expect(last).toBeLessThanOrEqual(5002);
  expect(pageAt(layout, -10)).toBe(1);
  expect(pageAt(layout, layout.height * 2)).toBe(10_000);
});

test('a mark comes to the upper third, but nothing scrolls above the beginning', () => {
  expect(scrollFor(1000, 900)).toBe(700);
  expect(scrollFor(100, 900)).toBe(0);
});

test('zoom goes in known steps from wherever it is', () => {
  expect(zoomStep(0.7, 1)).toBe(0.8);
  expect(zoomStep(0.7, -1)).toBe(0.67);
  expect(zoomStep(5, 1)).toBe(5);
  expect(zoomStep(0.25, -1)).toBe(0.25);
});

test('a column fills the width, is never smaller than its page nor larger than twice its print, and stands in the middle', () => {
  const left = { left: 50, right: 290 };
  expect(scaleOf('column', a4, 392, left)).toBe(1.5);
  expect(scaleOf('column', a4, 392, null)).toBe(scaleOf('fit', a4, 392));
  expect(scaleOf('column', a4, 392, { left: 0, right: 800 })).toBe(scaleOf('fit', a4, 392));
  expect(scaleOf('column', a4, 2000, left)).toBe(2);
  expect(sidewaysTo({ left: 310, right: 550 }, 1.5, 392)).toBe(430 * 1.5 - 196);
  expect(sidewaysTo({ left: 0, right: 200 }, 1, 392)).toBe(0);
});
