//  Positions of pages in the scrolled column, in CSS pixels. Sizes become known one by one; until then a page is assumed as
//  large as the first.

export type PageSize = { width: number; height: number };

export const GAP = 16;
export const EDGE = 24;
const WIDEST = 860;
const LOWEST = 0.25;
const HIGHEST = 5;

/** `column`: of the shown passage; if unknown, the whole page. */
export type Zoom = 'fit' | 'column' | number;

/** Beside a column that fills the width. */
const COLUMN_EDGE = 16;
/** At this scale, print of ten points is as large as a title. */
const LARGEST_COLUMN = 2;

/** Scale of points to pixels. A page or a column fits the width, but is not enlarged beyond what reads well. */
export function scaleOf(zoom: Zoom, first: PageSize, available: number, column: Sides | null = null): number {
  if (typeof zoom === 'number') return zoom;
  const width = Math.max(120, Math.min(WIDEST, available - 2 * EDGE));
  const page = width / first.width;
  if (zoom === 'fit' || !column) return page;
  const scale = (available - 2 * COLUMN_EDGE) / (column.right - column.left);
  return Math.max(page, Math.min(LARGEST_COLUMN, scale));
}

/** On a page, in points. */
type Sides = { left: number; right: number };

/** Horizontal scroll position that centres a column of print; 0 if the whole page fits. */
export const sidewaysTo = ({ left, right }: Sides, scale: number, available: number): number =>
  Math.max(0, ((left + right) / 2) * scale - available / 2);

const STEPS = [0.25, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5];

/** The next step up or down from what is shown. */
export function zoomStep(scale: number, direction: 1 | -1): number {
  const next =
    direction === 1 ? STEPS.find((step) => step > scale * 1.01) : STEPS.findLast((step) => step < scale * 0.99);
  return next ?? (direction === 1 ? HIGHEST : LOWEST);
}

export type Layout = { tops: Float64Array; height: number; width: number };

export function layoutOf(pages: number, first: PageSize, known: ReadonlyMap<number, PageSize>, scale: number): Layout {
  const tops = new Float64Array(pages);
  let top = EDGE;
  let width = 0;
  for (let page = 1; page <= pages; page += 1) {
    const size = known.get(page) ?? first;
    tops[page - 1] = top;
    top += size.height * scale + GAP;
    width = Math.max(width, size.width * scale);
  }
  return { tops, height: top - GAP + EDGE, width };
}

/** The page at a vertical position: the last that begins above it. From 1. */
export function pageAt(layout: Layout, offset: number): number {
  let low = 0;
  let high = layout.tops.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((layout.tops[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

export const topOfPage = (layout: Layout, page: number): number =>
  layout.tops[Math.min(layout.tops.length, Math.max(1, page)) - 1] ?? 0;

const BUFFER = 600;

export function visiblePages(layout: Layout, scrollTop: number, height: number): [first: number, last: number] {
  return [pageAt(layout, scrollTop - BUFFER), pageAt(layout, scrollTop + height + BUFFER)];
}

/** Puts the upper edge of the mark at a third of the height. */
export const scrollFor = (markTop: number, height: number): number => Math.max(0, markTop - height / 3);
