//  How long a list was asked for: "List 50 animals", "count from 1 to 200". Numbers in words are not read.

const upTo = /\b(?:to|up to|until|through|bis|jusqu'à|hasta)\s+(\d{1,5})\b|\d\s*[-–—]\s*(\d{1,5})\b/giu;
/** A number before the word of what is to be listed. */
const many = /(?<![\d.,:/-])(\d{1,5})(?![\d.,:/%-]*\d)\s+(?:\p{L}[\p{L}-]*\s+){0,3}?\p{L}{3,}/giu;
/** Fewer need no list. */
const LEAST = 5;

/** The largest number of things that the question asks for; null: it names none. */
export function requestedLength(question: string): number | null {
  const numbers = [...question.matchAll(upTo), ...question.matchAll(many)].map((found) => Number(found[1] ?? found[2]));
  const most = Math.max(0, ...numbers);
  return most < LEAST ? null : most;
}
