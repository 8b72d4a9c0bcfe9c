import type { Location, Place, Span } from '../../protocol/index.ts';
import { unpackSpans } from './span-codec.ts';

/** The location of the beginning of these spans; null if unknown. */
export function locationOf(spans: readonly Span[]): Location | null {
  const first = spans[0]?.place;
  if (!first) return null;
  switch (first.kind) {
    case 'page':
      return { kind: 'page', page: first.page };
    case 'slide':
      return { kind: 'slide', slide: first.slide };
    case 'lines':
      return { kind: 'line', line: first.from };
    case 'block':
      return { kind: 'block', block: first.block };
    case 'cells':
      return { kind: 'cells', range: rangeOf(first, spans) };
  }
}

/** The location of a stored passage, after its first `overlap` characters, which repeat the previous one. */
export const locationOfPassage = ({ overlap, spans }: { overlap: number; spans: Uint8Array }): Location | null =>
  locationOf(unpackSpans(spans).filter(({ end }) => end > overlap));

/** From the first row of the first sheet to the last row of it. */
function rangeOf(first: Extract<Place, { kind: 'cells' }>, spans: readonly Span[]): string {
  const same = spans.flatMap(({ place }) =>
    place.kind === 'cells' && place.sheet === first.sheet ? [place.range] : [],
  );
  const start = (same[0] ?? '').split(':')[0];
  const end = (same.at(-1) ?? '').split(':').at(-1);
  return start === end ? `${start}` : `${start}:${end}`;
}
