import type { Quote, Source } from '../../protocol/index.ts';
import { locationOf } from '../chunk/location.ts';
import type { Range } from '../chunk/sentence-splitter.ts';

/** A quote of a source with its own location, since a passage may span pages. */
export function quoteFrom({ number, spans, location }: Source, [start, end]: Range): Quote {
  const own = spans.filter((span) => span.start < end && span.end > start);
  return { source: number, start, end, location: own.length > 0 ? locationOf(own) : location };
}
