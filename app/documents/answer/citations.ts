//  Citations as the model writes them: [2], [1, 3], [1][2]. Inside code they are code.

const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const CITATION = /\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g;

export type Citation = { start: number; end: number; numbers: number[] };

/** Every marker, also of sources that do not exist. */
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

/** The same length, without what is no claim: markers become blanks. */
export function withoutCitations(text: string): string {
  let plain = text;
  for (const { start, end } of citationsIn(text)) {
    plain = plain.slice(0, start) + ' '.repeat(end - start) + plain.slice(end);
  }
  return plain;
}

/** A text that is quoted in a prompt must not cite: what looks like a marker would come back as one. */
export const withoutMarkers = (text: string): string => text.replace(/\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g, '($1)');
