/** [start, end) in characters of a text. */
export type Range = readonly [start: number, end: number];

/** An abbreviation whose full stop does not end a sentence. */
const SHORT =
  /(?:\b(?:dr|mr|mrs|ms|prof|st|no|nr|p|pp|fig|figs|vol|ch|sec|art|e\.g|i\.e|cf|approx|ca|vs|etc|inc|ltd|co|jr|sr)|\b\p{Lu})\.["')\]]?\s*$/iu;
const INITIAL = /(?:^|\s)\p{Lu}\.\s*$/u;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Sentences, list items and table rows, in order, without the white space around them. */
export function statementsOf(text: string): Range[] {
  const found: Range[] = [];
  let start = 0;
  // Whether a line end ends a sentence is decided below.
  for (const { segment, index } of segmenter.segment(smooth(text))) {
    const end = index + segment.length;
    if (endsNothing(segment) && end < text.length) continue;
    found.push([start, end]);
    start = end;
  }
  return found.flatMap(([from, to]) => lines(text, from, to));
}

/** Prepares text for the segmenter, keeping its length: line ends and dot leaders would always end a sentence. Table rows are delimited by
 *  line ends only, whatever their cells end with ("approx. | Inc. | 12"). */
const smooth = (text: string): string =>
  text
    .replace(/^.* \| .*$/gm, (row) => row.replace(/[.!?]/g, ','))
    .replace(/(?:[?!] ?)?(?:[.·…_] ?){4,}/g, (leader) => ' '.repeat(leader.length))
    .replace(/[\r\n\u2028\u2029]/g, ' ');

const endsNothing = (segment: string): boolean => (SHORT.test(segment) ? shortWord(segment) : INITIAL.test(segment));

/** A single letter before the full stop is an initial only if it is a capital ("plan b." ends a sentence). */
const shortWord = (segment: string): boolean => !/\b\p{Ll}\.\s*$/u.test(segment) || /\bp\.\s*$/i.test(segment);

/** Starts with a table row. */
const ROW = /^[^\n]* \| /;

/** A line of its own (an item, a row, a heading) counts as a sentence; a wrapped line does not. */
function lines(text: string, from: number, to: number): Range[] {
  const found: Range[] = [];
  let start = from;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    const next = text.slice(at + 1, to);
    const line = text.slice(start, at);
    if (/^\p{Ll}/u.test(next) && !/[.:;|]\s*$| \| /.test(line) && !ROW.test(next)) continue;
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
