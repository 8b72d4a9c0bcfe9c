import type { StoredPassage } from '../../store/documents/chunks.ts';
import type { Scored } from './scored-statement.ts';

//  Merges repeated statements into one answer: from overlapping passages, repeated in a document, or in several versions
//  of it. Otherwise the confidence would be split among them, and none would be high enough.

/** The best of each group, with the other documents that say the same. The newest version represents all: a sentence that
 *  differs from one in another document only in its numbers is a version of it. */
export function mergeEqual(scored: readonly Scored[]): Scored[] {
  const groups = new Map<string, Scored[]>();
  for (const one of scored) {
    const said = plain(one.passage.text.slice(...one.statement));
    const known = groups.get(said);
    if (known) known.push(one);
    else groups.set(said, [one]);
  }
  return versionsOf([...groups.values()]).map(bestOf);
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}%€$£¥.,]+/gu, ' ')
    .trim();

/** Fewer letters, as in rows of numbers, are too little to recognise a version. */
const FEWEST_LETTERS = 24;

function versionsOf(groups: readonly Scored[][]): Scored[][] {
  const merged = new Map<string, Scored[]>();
  for (const [at, group] of groups.entries()) {
    const [{ passage, statement }] = group as [Scored];
    const words = plain(passage.text.slice(...statement)).replace(/\p{N}[\p{N}.,]*/gu, '#');
    const telling = (words.match(/\p{L}/gu)?.length ?? 0) >= FEWEST_LETTERS;
    const known = telling ? merged.get(words) : undefined;
    if (known && apart(known, group)) known.push(...group);
    else merged.set(known || !telling ? `${words} ${at}` : words, [...group]);
  }
  return [...merged.values()];
}

/** Sentences of the same document that differ in a number are different statements. */
const apart = (a: readonly Scored[], b: readonly Scored[]): boolean =>
  a.every((one) => b.every((other) => one.passage.documentId !== other.passage.documentId));

function bestOf(group: readonly Scored[]): Scored {
  const score = Math.max(...group.map((one) => one.score));
  const newest = group.reduce((best, one) => (isBefore(one, best) ? one : best));
  const others = group.filter(({ passage }) => passage.documentId !== newest.passage.documentId);
  const also = [...new Map(others.map(({ passage }) => [passage.documentId, passage])).values()];
  return { ...newest, score, also };
}

const isBefore = (one: Scored, other: Scored): boolean =>
  one.passage.documentId === other.passage.documentId
    ? one.score > other.score
    : dated(one.passage) > dated(other.passage);

const dated = ({ changedAt }: StoredPassage): number => changedAt;
