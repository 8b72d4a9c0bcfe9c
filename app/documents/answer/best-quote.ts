import type { Quote, Source } from '../../protocol/index.ts';
import { locationOf } from '../chunk/location.ts';
import type { Range } from '../chunk/sentence-splitter.ts';

/** Words of a source, with where they themselves begin: a passage may go over a page. */
export function quoteFrom({ number, spans, location }: Source, [start, end]: Range): Quote {
  const own = spans.filter((span) => span.start < end && span.end > start);
  return { source: number, start, end, location: own.length > 0 ? locationOf(own) : location };
}
