import type { Place, Span } from '../../protocol/index.ts';

/** Where a passage begins, in a few characters: "p. 14", "slide 3", "line 20", "B4:D9", "¶ 7". */
export function labelOf(spans: readonly Span[]): string {
  const first = spans[0]?.place;
  if (!first) return '';
  switch (first.kind) {
    case 'page':
      return `p. ${first.page}`;
    case 'slide':
      return `slide ${first.slide}`;
    case 'lines':
      return `line ${first.from}`;
    case 'block':
      return `¶ ${first.block}`;
    case 'cells':
      return rangeOf(first, spans);
  }
}

/** From the first row of the first sheet to the last row of it. */
function rangeOf(first: Extract<Place, { kind: 'cells' }>, spans: readonly Span[]): string {
  const same = spans.flatMap(({ place }) =>
    place.kind === 'cells' && place.sheet === first.sheet ? [place.range] : [],
  );
  const start = (same[0] ?? '').split(':')[0];
  const end = (same.at(-1) ?? '').split(':').at(-1);
  return start === end ? `${start}` : `${start}:${end}`;
}
