import { rowsOf } from './layout.ts';
import type { Segment } from './lines.ts';

//  Detects headers and footers: lines near the upper or lower edge at the same height with the same words on nearby
//  pages, ignoring numbers, with nothing else between them and the edge. They are excluded from passages.

export type MarginPage<T> = { height: number; segments: Segment[]; rest: T };

/** Share of the page height, from either edge. */
const ZONE = 0.12;
/** Pages with more are not text pages, and comparing them takes quadratic time. */
const MAX_SEGMENTS = 3000;
/** Pages on either side that are compared: left and right pages differ. */
const REACH = 4;

/** Takes pages one by one and returns them some pages later, without headers and footers. */
export function createMargins<T>() {
  const pages: MarginPage<T>[] = [];
  let given = 0;

  function cleaned(at: number): MarginPage<T> {
    const page = pages[at] as MarginPage<T>;
    if (page.segments.length > MAX_SEGMENTS) return page;
    const around = pages
      .slice(Math.max(0, at - REACH), at + REACH + 1)
      .filter((one) => one !== page && one.segments.length <= MAX_SEGMENTS);
    const needed = Math.min(2, around.length);
    const repeated = (segment: Segment) => {
      const same = (one: Segment, height: number) => isSame(segment, one, page.height, height);
      return around.filter(({ segments, height }) => segments.some((one) => same(one, height))).length >= needed;
    };
    const margin = new Set<Segment>();
    const down = fromTop(page);
    for (const { rows, near } of [
      { rows: down, near: nearTop },
      { rows: [...down].reverse(), near: nearBottom },
    ]) {
      for (const row of rows) {
        const found = needed > 0 ? row.filter((one) => near(one, page.height) && repeated(one)) : [];
        if (found.length === 0) break;
        for (const one of found) margin.add(one);
      }
    }
    const segments = page.segments.filter((one) => !margin.has(one));
    return { ...page, segments };
  }

  return {
    add(page: MarginPage<T>): MarginPage<T>[] {
      pages.push(page);
      const ready: MarginPage<T>[] = [];
      while (given + REACH < pages.length) ready.push(cleaned(given++));
      // Pages further back are no longer compared; their slots stay so that indexes remain valid.
      const gone = given - REACH - 1;
      if (gone >= 0) pages[gone] = { height: 0, segments: [], rest: page.rest };
      return ready;
    },
    end(): MarginPage<T>[] {
      const ready: MarginPage<T>[] = [];
      while (given < pages.length) ready.push(cleaned(given++));
      return ready;
    },
  };
}

const fromTop = ({ segments }: MarginPage<unknown>): Segment[][] => rowsOf(segments);
const nearTop = ({ bottom }: Segment, height: number) => bottom < height * ZONE;
const nearBottom = ({ top }: Segment, height: number) => top > height * (1 - ZONE);

function isSame(a: Segment, b: Segment, heightA: number, heightB: number): boolean {
  if (heightA !== heightB || Math.abs(a.baseline - b.baseline) > 2) return false;
  return mask(a) === mask(b);
}

const mask = ({ words }: Segment) =>
  words
    .map(({ text }) => text.replace(/\d+|\b[ivxlc]+\b/gi, '#'))
    .join(' ')
    .toLowerCase();
