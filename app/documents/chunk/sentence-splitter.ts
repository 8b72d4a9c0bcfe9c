/** [start, end) in characters of a text. */
export type Range = readonly [start: number, end: number];

/** A stop that does not end a sentence. */
const SHORT =
  /(?:\b(?:dr|mr|mrs|ms|prof|st|no|nr|p|pp|fig|figs|vol|ch|sec|art|e\.g|i\.e|cf|approx|ca|vs|etc|inc|ltd|co|jr|sr)|\b\p{Lu})\.["')\]]?\s*$/iu;
const INITIAL = /(?:^|\s)\p{Lu}\.\s*$/u;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Sentences, list items and table rows, in order, without the white space around them. */
export function statementsOf(text: string): Range[] {
  const found: Range[] = [];
  let start = 0;
  // A line end always ends a sentence for the segmenter; whether it does is seen below.
  for (const { segment, index } of segmenter.segment(text.replace(/[\r\n\u2028\u2029]/g, ' '))) {
    const end = index + segment.length;
    if (endsNothing(segment) && end < text.length) continue;
    found.push([start, end]);
    start = end;
  }
  return found.flatMap(([from, to]) => lines(text, from, to));
}

const endsNothing = (segment: string): boolean => (SHORT.test(segment) ? shortWord(segment) : INITIAL.test(segment));

/** One letter before the stop is an initial only when it is a capital ("plan b." ends a sentence). */
const shortWord = (segment: string): boolean => !/\b\p{Ll}\.\s*$/u.test(segment) || /\bp\.\s*$/i.test(segment);

/** A line that stands for itself (an item, a row, a heading) is a sentence; a line that only wrapped is not. */
function lines(text: string, from: number, to: number): Range[] {
  const found: Range[] = [];
  let start = from;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    const next = text.slice(at + 1, to);
    if (/^\p{Ll}/u.test(next) && !/[.:;|]\s*$/.test(text.slice(start, at))) continue;
    found.push([start, at]);
    start = at + 1;
  }
  found.push([start, to]);
  return found.flatMap((range) => trimmed(text, range) ?? []);
}

function trimmed(text: string, [from, to]: Range): [Range] | null {
  const piece = text.slice(from, to);
  const start = from + piece.length - piece.trimStart().length;
  const end = from + piece.trimEnd().length;
  return end > start && /[\p{L}\p{N}]/u.test(piece) ? [[start, end]] : null;
}
