import type { CollectionId, DocumentId, PassageHit } from '../../protocol/index.ts';
import { fold } from '../../store/database/case-fold.ts';
import type { Database } from '../../store/database/database.ts';
import { countPassages, passagesWith, type StoredPassage } from '../../store/documents/chunks.ts';
import { matchPassages } from '../../store/documents/fulltext.ts';
import { codesOf, indexed, wordsOf } from '../../store/documents/index-tokenizer.ts';
import { locationOfPassage } from '../chunk/location.ts';
import { languageOf } from './languages/detect.ts';
import type { Language } from './languages/language.ts';
import { stem } from './stemming.ts';

//  Keyword search over passages.

export type Wanted = {
  query: string;
  /** null: everywhere. */
  collectionIds: readonly CollectionId[] | null;
  documentId?: DocumentId | undefined;
  limit: number;
};

export type Found = { passage: StoredPassage; score: number };
/** Ranks in keyword and in vector search, from 1; null if not found there. */
export type Ranks = { words: number | null; meaning: number | null };

/** Stop words. */
const COMMON = new Set(
  `a about after all also am an and any are as at be because been before being between both but by can could did do does
  during each either else every few for from had has have having he her here hers him his how however i if in into is it
  its just may me might more most much must my need no nor not of off on once only or other our out over own per she should
  since so some still such than that the their them then there these they this those though through to too under until up
  upon us very was we were what when where whether which while who whom whose why will with within without would yes yet
  you your der die das und ist ein eine im mit von zu le la les des et est un une du que el los las y es en`.split(
    /\s+/,
  ),
);

/** Next to a rare word, a word of less than this share of its weight is ignored. */
const TELLING = 0.25;
/** Hits are counted up to this number. */
const MAX_HITS_COUNTED = 5000;

/** The discriminating words of a query: without stop words and very common words. */
export function tellingWords(db: Database, query: string): string[] {
  const language = languageOf(query);
  const asked = language?.asking ? query.replace(language.asking, ' ') : query;
  const telling = wordsOf(asked);
  // If the query consists of stop words only, use them.
  const words = [...new Set(telling.length > 0 ? telling : wordsOf(query))];
  const named = words.filter((word) => !(language?.common ?? COMMON).has(word));
  if (named.length < 2) return named.length > 0 ? named : words;
  const all = countPassages(db);
  const weighed = named.map((word) => ({
    word,
    weight: rarity(all, passagesWith(db, termOf(word, language), MAX_HITS_COUNTED)),
  }));
  // A word that occurs nowhere must not make others look common.
  const known = weighed.filter(({ weight }) => weight < rarity(all, 0));
  const rarest = Math.max(0, ...known.map(({ weight }) => weight));
  return weighed.filter(({ weight }) => weight >= TELLING * rarest).map(({ word }) => word);
}

/** Inverse document frequency (Robertson and Spärck Jones) of a word in `having` of `all` passages. */
export const rarity = (all: number, having: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5));

/** BM25 over text, headings and names, plus substring matches for names and numbers. Best first. */
export async function searchPassages(db: Database, wanted: Wanted): Promise<Found[]> {
  const language = languageOf(wanted.query);
  const terms = tellingWords(db, wanted.query).map((word) => termOf(word, language));
  const byWords = terms.length > 0 ? await matchPassages(db, 'passage_words', terms, wanted) : [];
  const codes = codesOf(wanted.query).map((code) => quoted(indexed(code)));
  const byCodes = codes.length > 0 ? await matchPassages(db, 'passage_codes', codes, wanted) : [];
  return fuse([byWords, byCodes]).slice(0, wanted.limit);
}

const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/** Minimum length of a common stem. */
const LEAST_ROOT = 4;

/** A word as an FTS query term. The index stems English; other languages use a prefix query with the stem,
 *  Arabic also with an article or a preposition in front. */
export function termOf(word: string, language: Language | null): string {
  const root = language?.stem(word) ?? word;
  if (!language || language.asking || root.length < (language.code === 'ar' ? 3 : LEAST_ROOT)) return quoted(word);
  if (language.code !== 'ar') return word.startsWith(root) ? `${quoted(root)}*` : quoted(word);
  return `(${[word, ...ARABIC_STARTS.map((start) => `${start}${root}`)].map((one) => `${quoted(one)}*`).join(' OR ')})`;
}

const ARABIC_STARTS = ['', 'ال', 'وال', 'بال', 'لل', 'و', 'ب', 'ل', 'أ', 'إ'];

/** Reciprocal rank fusion (Cormack et al. 2009, k = 60). One list alone keeps its own scores. */
export function fuse(lists: readonly Found[][]): Found[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length < 2) return filled[0] ?? [];
  const scores = new Map<string, Found>();
  for (const list of filled) {
    for (const [rank, { passage }] of list.entries()) {
      const known = scores.get(passage.id)?.score ?? 0;
      scores.set(passage.id, { passage, score: known + 1 / (61 + rank) });
    }
  }
  return [...scores.values()].sort((a, b) => b.score - a.score);
}

const EXCERPT = 220;
const BEFORE = 50;

/** The excerpt of a hit: the part with the most query words. */
export function hitOf({ passage, score }: Found, words: readonly string[]): PassageHit {
  const { text } = passage;
  const from = Math.max(0, bestStart(placesOf(text, words)) - BEFORE);
  const start = from === 0 ? 0 : from + Math.max(0, text.slice(from, from + BEFORE).search(/\s/)) + 1;
  const end = Math.min(text.length, start + EXCERPT);
  const excerpt =
    (start > 0 ? '… ' : '') + text.slice(start, end).replace(/\s/g, ' ') + (end < text.length ? ' …' : '');
  return {
    passageId: passage.id,
    documentId: passage.documentId,
    location: locationOfPassage(passage),
    excerpt,
    highlights: joined(placesOf(excerpt, words)),
    score,
  };
}

type WordPlace = { start: number; end: number; word: string };

/** The start of the excerpt with the most distinct words. */
function bestStart(places: readonly WordPlace[]): number {
  let best = { start: 0, words: 0 };
  for (const { start } of places) {
    const near = places.filter((one) => one.start >= start && one.end <= start + EXCERPT - BEFORE);
    const words = new Set(near.map(({ word }) => word)).size;
    if (words > best.words) best = { start, words };
  }
  return best.start;
}

/** All occurrences of all words, in order, in any form the index matches. For scripts without spaces,
 *  single characters are matched. */
function placesOf(text: string, words: readonly string[]): WordPlace[] {
  const folded = fold(text);
  const wanted = words.map((word) => ({ word, root: stem(word) }));
  const places: WordPlace[] = [];
  for (const match of folded.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const [there] = match;
    const thereRoot = stem(there);
    const found = wanted.find(({ word, root }) => there.startsWith(word) || thereRoot === root);
    if (found) places.push({ start: match.index, end: match.index + there.length, word: found.word });
  }
  for (const word of words.filter((one) => !/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]/u.test(one))) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      places.push({ start: at, end: at + word.length, word });
    }
  }
  return places.sort((a, b) => a.start - b.start);
}

/** Merges adjacent ranges. */
function joined(places: readonly WordPlace[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const { start, end } of places) {
    const last = ranges.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else ranges.push([start, end]);
  }
  return ranges;
}
