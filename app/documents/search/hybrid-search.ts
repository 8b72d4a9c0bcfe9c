import type { EmbedderTarget } from '../../engine/ipc-protocol.ts';
import type { Grounding } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { countPassages, passagesNumbered, passagesWith, type StoredPassage } from '../../store/documents/chunks.ts';
import type { Embedding } from '../index/embedding-index.ts';
import { isContents } from './answer-candidates.ts';
import { type Found, type Ranks, rarity, searchPassages, termOf, type Wanted } from './fulltext-search.ts';
import { languageOf } from './languages/detect.ts';
import { coverage, type Question } from './ranking-features.ts';
import { askedWords, wordsAmong } from './stemming.ts';

//  Hybrid search: BM25 and nearest vectors, joined by reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).

/** Dampens the weight of top ranks. 60 in the paper, for many long lists; with two short ones the top ranks
 *  matter more. Fitted on the tuning half of test/app/documents/evaluation. */
const K = 10;
const LOOKED_AT = 100;
/** Number of top passages that a cross-encoder reranks. */
const RANKED = 20;
/** A passage with a smaller share of the question's words is often a chance hit: it is ranked below those that
 *  are similar in meaning. Fitted on the tuning half of test/app/documents/evaluation. */
const ENOUGH_WORDS = 0.65;
const BEHIND = 0.1;
/** Hits are counted up to this number; more common words are ignored. */
const MAX_HITS_COUNTED = 5000;

/** `target`, `embedder`, `query`: the encoder, its number in the database, and the vector of the question. */
export type Search = {
  by: Exclude<Grounding['by'], 'whole-documents'>;
  found: FoundNear[];
  target: EmbedderTarget | null;
  embedder: number | null;
  query: Float32Array | null;
};
/** `similarity`: null if found by keywords only. */
export type FoundNear = Found & { similarity: number | null; ranks: Ranks };

/** Inverse document frequency of each content word of a question (Robertson and Spärck Jones). */
export function weighWords(db: Database, question: string): Omit<Question, 'text'> {
  const all = countPassages(db);
  const language = languageOf(question);
  const words = new Map<string, number>();
  let unknown = 0;
  let sum = 0;
  for (const [word, written] of askedWords(question, language)) {
    const having = passagesWith(db, termOf(written, language), MAX_HITS_COUNTED);
    const weight = rarity(all, having);
    words.set(word, weight);
    sum += weight;
    if (having === 0) unknown += weight;
  }
  return { words, unknown: sum === 0 ? 0 : unknown / sum, language };
}

/** Best first. */
export async function find(db: Database, embedding: Embedding, wanted: Wanted): Promise<Search> {
  const collectionIds = wanted.collectionIds ?? embedding.collections();
  const near = await embedding.near(wanted.query, {
    ...wanted,
    collectionIds,
    limit: Math.max(LOOKED_AT, wanted.limit),
  });
  const byWords = await searchPassages(db, { ...wanted, limit: Math.max(LOOKED_AT, wanted.limit) });
  if (!near) {
    const found = contentsLast(
      byWords.map((one, at) => ({ ...one, similarity: null, ranks: { words: at + 1, meaning: null } })),
    );
    return { by: 'words', found: await ranked(embedding, wanted, found), target: null, embedder: null, query: null };
  }

  const { words, language } = weighWords(db, wanted.query);
  const similarity = new Map(near.passages.map((one) => [one.passage, one.similarity]));
  const wordRank = new Map(byWords.map(({ passage }, at) => [passage.number, at + 1]));
  const meaningRank = new Map(near.passages.map(({ passage }, at) => [passage, at + 1]));
  const scores = new Map<number, number>();
  const add = (numbers: readonly number[], weight: number) => {
    for (const [at, number] of numbers.entries()) {
      scores.set(number, (scores.get(number) ?? 0) + weight / (K + at + 1));
    }
  };
  const telling = byWords.filter(
    ({ passage }) => coverage(words, wordsAmong(textOf(passage), words, language)) >= ENOUGH_WORDS,
  );
  const others = byWords.filter((found) => !telling.includes(found));
  add(
    near.passages.map(({ passage }) => passage),
    1,
  );
  add(
    telling.map(({ passage }) => passage.number),
    1,
  );
  add(
    others.map(({ passage }) => passage.number),
    BEHIND,
  );

  const best = [...scores].sort(([, a], [, b]) => b - a).slice(0, Math.max(wanted.limit, RANKED));
  const passages = passagesNumbered(
    db,
    best.map(([number]) => number),
  );
  const found = best.flatMap(([number, score]) => {
    const passage = passages.get(number);
    const ranks = { words: wordRank.get(number) ?? null, meaning: meaningRank.get(number) ?? null };
    return passage ? [{ passage, score, similarity: similarity.get(number) ?? null, ranks }] : [];
  });
  return {
    by: 'words-and-meaning',
    found: await ranked(embedding, wanted, contentsLast(found)),
    target: near.target,
    embedder: near.embedder,
    query: near.query,
  };
}

/** Reranks with the cross-encoder if one is installed. */
async function ranked(embedding: Embedding, { query, limit }: Wanted, found: FoundNear[]): Promise<FoundNear[]> {
  const first = found.slice(0, RANKED);
  const scores = await embedding.rank(
    query,
    first.map(({ passage }) => textOf(passage)),
  );
  const order = scores ? [...first.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)) : null;
  const best = order ? order.flatMap((at) => first[at] ?? []) : first;
  return [...best, ...found.slice(RANKED)].slice(0, limit);
}

/** Moves tables of contents and indexes to the end. */
const contentsLast = (found: readonly FoundNear[]): FoundNear[] => {
  const contents = found.filter(({ passage }) => isContents(passage.text));
  return contents.length === 0 ? [...found] : [...found.filter((one) => !contents.includes(one)), ...contents];
};

const textOf = ({ text, headings, name }: StoredPassage): string => [name, ...headings, text].join('\n');
