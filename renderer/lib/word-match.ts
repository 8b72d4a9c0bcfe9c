import { foldCase } from './case-fold.ts';

/** Positions where the words of the query begin words of the text; null if one does not occur. An empty query matches everything. */
export function matchOf(text: string, query: string): [number, number][] | null {
  const plain = foldCase(text);
  const ranges: [number, number][] = [];
  for (const word of foldCase(query).split(/\s+/).filter(Boolean)) {
    const at = startOfWord(plain, word);
    if (at === -1) return null;
    ranges.push([at, at + word.length]);
  }
  return ranges
    .sort((a, b) => a[0] - b[0])
    .filter(([start], index, all) => index === 0 || start >= (all[index - 1]?.[1] ?? 0));
}

function startOfWord(text: string, word: string): number {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] as string)) return at;
  }
  return -1;
}
