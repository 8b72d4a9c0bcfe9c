import { countTokens } from './token-estimate.ts';

/** Characters [start, end) of a text. */
export type Cut = { start: number; end: number; tokens: number };

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });

/** Cuts a text into runs of whole sentences (of code: lines) with at most `most` tokens each; with `most` 0 into single
 *  ones. A sentence that is longer is cut between words, a word between characters. No cut begins or ends with space. */
export function cutText(text: string, most: number, byLines: boolean): Cut[] {
  const cuts: Cut[] = [];
  for (const unit of units(text, byLines)) {
    const last = cuts.at(-1);
    if (last && last.tokens + unit.tokens <= most) {
      last.end = unit.end;
      last.tokens += unit.tokens;
    } else if (unit.tokens <= most || most === 0) cuts.push({ ...unit });
    else cuts.push(...halves(text, unit, most));
  }
  return cuts;
}

function* units(text: string, byLines: boolean): Generator<Cut> {
  if (byLines) {
    for (const match of text.matchAll(/[^\n]+/g)) yield* trimmed(text, match.index, match.index + match[0].length);
    return;
  }
  // Line ends inside a paragraph do not end a sentence.
  for (const { index, segment } of segmenter.segment(text.replace(/[\r\n\u2028\u2029]/g, ' '))) {
    yield* trimmed(text, index, index + segment.length);
  }
}

function* trimmed(text: string, from: number, to: number): Generator<Cut> {
  const inner = text.slice(from, to);
  const start = from + inner.length - inner.trimStart().length;
  const end = from + inner.trimEnd().length;
  if (start < end) yield { start, end, tokens: countTokens(text.slice(start, end)) };
}

/** Splits recursively until all parts fit: at a space near the middle, or else at the middle. */
function halves(text: string, cut: Cut, most: number): Cut[] {
  if (cut.tokens <= most || cut.end - cut.start < 2) return [cut];
  const middle = Math.floor((cut.start + cut.end) / 2);
  const before = text.slice(cut.start, middle + 1);
  const gap = cut.start + Math.max(before.lastIndexOf(' '), before.lastIndexOf('\n'));
  const at = gap > cut.start + (cut.end - cut.start) / 4 ? gap : wholeCharacter(text, middle);
  return [[cut.start, at] as const, [at, cut.end] as const].flatMap(([from, to]) =>
    [...trimmed(text, from, to)].flatMap((half) => halves(text, half, most)),
  );
}

/** Never between the two halves of a surrogate pair. */
const wholeCharacter = (text: string, at: number) => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at);
