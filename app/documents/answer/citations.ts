//  Citations in a model's text: [2], [1, 3], [1][2]; ignored inside code.

const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const CITATION = /\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g;

export type Citation = { start: number; end: number; numbers: number[] };

/** All markers, including those of sources that do not exist. */
export function citationsIn(text: string): Citation[] {
  const code = [...text.matchAll(CODE)].map((match) => [match.index, match.index + match[0].length] as const);
  return [...text.matchAll(CITATION)]
    .filter(({ index }) => !code.some(([start, end]) => index >= start && index < end))
    .map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      numbers: (match[1] ?? '').split(/[,;]/).map(Number),
    }));
}

/** The numbers of sources that a text cites. */
export const citedIn = (text: string): Set<number> => new Set(citationsIn(text).flatMap(({ numbers }) => numbers));

/** Replaces markers by blanks, keeping the length. */
export function withoutCitations(text: string): string {
  let plain = text;
  for (const { start, end } of citationsIn(text)) {
    plain = plain.slice(0, start) + ' '.repeat(end - start) + plain.slice(end);
  }
  return plain;
}

/** Cuts markers out, each with the blank before it. */
export const cutCitations = (text: string): string =>
  citationsIn(text).reduceRight(
    (rest, { start, end }) => rest.slice(0, start).replace(/ $/, '') + rest.slice(end),
    text,
  );

/** Removes markers from text quoted in a prompt, which the model would repeat as citations. */
export const withoutMarkers = (text: string): string => text.replace(/\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g, '($1)');
