//  The requested length of a list: "List 50 animals", "count from 1 to 200". Numbers in words are not recognised.

const upTo = /\b(?:to|up to|until|through|bis|jusqu'à|hasta)\s+(\d{1,5})\b|\d\s*[-–—]\s*(\d{1,5})\b/giu;
/** A number before the noun to be listed. */
const many = /(?<![\d.,:/-])(\d{1,5})(?![\d.,:/%-]*\d)\s+(?:\p{L}[\p{L}-]*\s+){0,3}?\p{L}{3,}/giu;
/** Smaller numbers are ignored. */
const LEAST = 5;

/** The largest requested number of items; null: none. */
export function requestedLength(question: string): number | null {
  const numbers = [...question.matchAll(upTo), ...question.matchAll(many)].map((found) => Number(found[1] ?? found[2]));
  const most = Math.max(0, ...numbers);
  return most < LEAST ? null : most;
}
