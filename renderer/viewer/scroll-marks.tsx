import type { Mark } from '../stores/documents/state.ts';
import { type Layout, topOfPage } from './layout.ts';
import { pageOf, strengthOf } from './marks.ts';

/** Positions of the marks in the whole document, along the scroll bar. The list beside it has the same in words. */
export function ScrollMarks({
  marks,
  layout,
  scale,
}: {
  marks: readonly (Mark | null)[];
  layout: Layout;
  scale: number;
}) {
  const places = new Set(
    marks.flatMap((mark) => {
      const span = mark?.spans.find((one) => strengthOf(mark, one) === 'current');
      const page = span ? pageOf(span.place) : null;
      if (!span || page === null) return [];
      const top = span.place.kind === 'page' ? (span.place.rectangles[0]?.[1] ?? 0) : 0;
      return [Math.round(((topOfPage(layout, page) + top * scale) / layout.height) * 1000) / 10];
    }),
  );
  return (
    <div aria-hidden className="pointer-events-none absolute inset-y-0 end-0 w-2">
      {[...places].map((place) => (
        <span
          key={place}
          className="absolute end-0 h-0.75 w-2 rounded-full bg-marker-line"
          style={{ top: `${place}%` }}
        />
      ))}
    </div>
  );
}
