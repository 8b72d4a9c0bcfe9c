import type { Rectangle } from '../../app/protocol/index.ts';
import type { Mark } from '../stores/documents/state.ts';
import { firstPlace } from './marks.ts';

/** From left to right on a page, in points. */
export type Column = { page: number; left: number; right: number };

/** Columns of print are further apart than words. In points. */
const GUTTER = 10;
/** A passage of one short line says little about the width of its column. */
const NARROWEST = 180;

/** The column of a passage; null if it has no position on a page. */
export function columnOf(mark: Mark | null): Column | null {
  const place = mark && firstPlace(mark);
  if (place?.kind !== 'page') return null;
  const { page } = place;
  const [seed] = place.rectangles;
  if (!seed) return null;
  const around = mark?.spans.flatMap((span) =>
    span.place.kind === 'page' && span.place.page === page ? span.place.rectangles : [],
  );
  return { page, ...columnAround(seed, around ?? []) };
}

/** Grows from `seed` by everything above, below or close beside it. */
export function columnAround(seed: Rectangle, rectangles: readonly Rectangle[]): { left: number; right: number } {
  let left = seed[0];
  let right = seed[0] + seed[2];
  let waiting = rectangles;
  for (;;) {
    const rest = waiting.filter(([x, , width]) => x > right + GUTTER || x + width < left - GUTTER);
    if (rest.length === waiting.length) break;
    for (const [x, , width] of waiting.filter((one) => !rest.includes(one))) {
      left = Math.min(left, x);
      right = Math.max(right, x + width);
    }
    waiting = rest;
  }
  return { left, right: Math.max(right, left + NARROWEST) };
}

/** The column in the middle of the screen: the lines near it that are above and below each other. */
export function columnOnScreen(scroller: HTMLElement, page: number, scale: number): Column | null {
  const paper = scroller.querySelector<HTMLElement>(`[data-page="${page}"]`);
  if (!paper) return null;
  const origin = paper.getBoundingClientRect();
  const box = scroller.getBoundingClientRect();
  const lines = [...paper.querySelectorAll<HTMLElement>('.textlayer span')]
    .map((line) => line.getBoundingClientRect())
    .filter(({ width, top, bottom }) => width > 0 && bottom > box.top && top < box.bottom);
  const middle = { x: box.left + box.width / 2, y: box.top + box.height / 3 };
  const distance = ({ left, right, top, bottom }: DOMRect) =>
    Math.max(0, left - middle.x, middle.x - right) + Math.max(0, top - middle.y, middle.y - bottom);
  const nearest = lines.toSorted((a, b) => distance(a) - distance(b))[0];
  if (!nearest) return null;
  const points = ({ left, top, width, height }: DOMRect): Rectangle => [
    (left - origin.left) / scale,
    (top - origin.top) / scale,
    width / scale,
    height / scale,
  ];
  // Titles and pictures that span all columns would join them.
  const usual = lines.filter(({ width }) => width <= Math.max(nearest.width, (origin.width - nearest.width) / 1.5));
  return { page, ...columnAround(points(nearest), usual.map(points)) };
}
