import type { EmbedderTarget } from '../../engine/ipc-protocol.ts';
import type { CollectionId } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import type { StoredPassage } from '../../store/documents/chunks.ts';
import type { Range } from '../chunk/sentence-splitter.ts';
import type { Embedding } from '../index/embedding-index.ts';
import { answersIn, columnsOf, headOf, sectionOf, withWhatFollows } from '../search/answer-candidates.ts';
import { type FoundNear, find, weighWords } from '../search/hybrid-search.ts';
import {
  BY_MEANING,
  BY_READING,
  type Candidate,
  certainty,
  chances,
  featuresOf,
  type Question,
  scoreOf,
  wordWeights,
} from '../search/ranking-features.ts';
import { contentWords } from '../search/stemming.ts';
import { wordFeatures } from '../search/word-features.ts';
import { mergeEqual } from './equal-statements.ts';
import { type KnownAnswers, type KnownQuestions, NOTHING_KNOWN } from './known-questions.ts';
import type { Scored } from './scored-statement.ts';

//  Finds the statement of the documents that answers a question best, with a calibrated confidence.
//
//  find ──▶ every statement of the best passages, by words and by meaning ──▶ the likeliest read with the question, where the
//           encoder has a QA reranker (resources/reader) ──▶ passages, the surest first

/** `candidates`: the best statement of each passage, best first, scored by the confidence in the passage (keywords only: log odds);
 *  `statements`: all that were scored. */
export type Examined = {
  by: 'words' | 'words-and-meaning';
  /** Whether the QA reranker was used. */
  read: boolean;
  sure: boolean;
  candidates: Scored[];
  statements: Scored[];
};

const CANDIDATES = 10;
/** Rank of a passage that keyword search did not find. */
const FAR = 100;
/** How many of the best statements the QA reranker scores. */
const READ = 12;
/** Keeps statements that were not reranked behind those that were. */
const UNREAD = -30;
/** Limit for passages of many short lines. */
const MAX_STATEMENTS = 40;
/** Statements per passage that are embedded while the user waits. */
const MAX_ENCODED = 14;

/** `nearest`: nothing is an answer unless a known question that has one is as near as this, as a cosine. */
export type ScoreAnswers = (
  question: string,
  collectionIds: readonly CollectionId[],
  nearest?: number,
) => Promise<Examined>;

/** What the cosine of a question and the nearest known one that a statement answers counts in log odds, and from which cosine on.
 *  Fitted on the tuning questions of test/app/documents/evaluation/manual. */
const LIKE_KNOWN = 30;
const KNOWN_FROM = 0.45;

export function createAnswerScorer({
  db,
  embedding,
  known,
}: {
  db: Database;
  embedding: Embedding;
  known: KnownQuestions;
}): ScoreAnswers {
  const seen = createVectorCache(embedding);

  async function score(text: string, collectionIds: readonly CollectionId[], nearest = -1): Promise<Examined> {
    const first = await find(db, embedding, { query: text, collectionIds, limit: CANDIDATES });
    const { by, target, embedder, query } = first;
    const question: Question = { text, ...weighWords(db, text) };
    // Similarity thresholds and the QA reranker were fitted to English: in other languages vectors find passages, but
    // keywords judge them. Judged by vectors, 0.59 of unanswerable questions are refused there, by keywords 0.95.
    const judge = target && query && question.language === null ? { target, query } : null;
    const like =
      judge && embedder !== null
        ? await known.like(collectionIds, { embedder, query: judge.query, from: KNOWN_FROM })
        : NOTHING_KNOWN;
    if (nearest > Math.max(-1, ...like.answers.map(({ similarity }) => similarity)))
      return { by, read: false, sure: false, candidates: [], statements: [] };
    const found = withKnown(first.found, like);
    const statements = found.flatMap((one) => statementsIn(one, judge ? 'words-and-meaning' : 'words'));
    const scored = judge
      ? asKnown(await byMeaning(question, statements, judge.target, judge.query), like)
      : byWords(question, statements);
    const read = judge ? await byReading(question, scored, like, judge.target) : null;
    const judged = mergeEqual(read ?? scored);
    const candidates = judge ? byChance(judged, read ? certainty : (chance) => chance) : bestOfEach(judged);
    const { threshold } = read ? BY_READING : judge ? BY_MEANING : wordWeights(question.language);
    return {
      by,
      read: read !== null,
      sure: (candidates[0]?.score ?? Number.NEGATIVE_INFINITY) >= threshold,
      candidates: candidates.map((one) => ({ ...one, statement: withWhatFollows(one.passage.text, one.statement) })),
      statements: judged,
    };
  }

  async function byMeaning(question: Question, statements: Statement[], target: EmbedderTarget, query: Float32Array) {
    const asked = statements.map(({ candidate }) => withoutContext(question, candidate.context));
    const [said, above, attribute] = [
      await seen(
        target,
        'passage',
        statements.map(({ candidate, range }) => candidate.text.slice(...range)),
      ),
      await seen(
        target,
        'passage',
        statements.map(({ candidate }) => candidate.context.replaceAll('\n', ', ')),
      ),
      await seen(target, 'query', asked),
    ];
    const similar = said.map((vector) => cosine(vector, query));
    const average = similar.reduce((sum, one) => sum + one, 0) / Math.max(1, similar.length);
    return statements.map(({ passage, candidate, range, similarity, ranks }, at) => {
      const features = featuresOf(question, candidate, range, {
        statement: similar[at] ?? 0,
        passage: similarity ?? 0,
        attribute: cosine(attribute[at], said[at]),
        context: cosine(above[at], query),
        average,
        ranks,
      });
      return { passage, statement: range, features, score: scoreOf(BY_MEANING, features) };
    });
  }

  /** Rescores the best statements with the QA reranker. */
  async function byReading(question: Question, scored: readonly Scored[], like: KnownAnswers, target: EmbedderTarget) {
    const likeliest = scored.toSorted((a, b) => b.score - a.score).slice(0, READ);
    const scores = await embedding.read(target, question.text, likeliest.map(readable));
    if (scores === null) return null;
    const read = likeliest.map((one, at) => {
      const features = [...one.features, scores[at] ?? 0];
      return { ...one, features, score: scoreOf(BY_READING, features) };
    });
    const others = scored.filter((one) => !likeliest.includes(one));
    return [...asKnown(read, like), ...others.map((one) => ({ ...one, score: one.score + UNREAD }))];
  }

  return score;
}

/** With the passages that only known questions lead to. */
function withKnown(found: readonly FoundNear[], { answers }: KnownAnswers): FoundNear[] {
  const others = new Map(answers.map(({ passage }) => [passage.number, passage]));
  for (const { passage } of found) others.delete(passage.number);
  const unranked = { score: 0, similarity: null, ranks: { words: null, meaning: null } };
  return [...found, ...[...others.values()].map((passage) => ({ passage, ...unranked }))];
}

/** With what it counts that a statement is the answer to a known question like the one that is asked, and that none is. */
function asKnown(scored: readonly Scored[], { manual, answers, unanswered }: KnownAnswers): Scored[] {
  return scored.map((one) => {
    if (one.passage.collectionId !== manual) return one;
    const own = answers.filter(
      ({ passage, statement }) => passage.number === one.passage.number && overlap(statement, one.statement),
    );
    const nearest = Math.max(KNOWN_FROM, ...own.map(({ similarity }) => similarity));
    return { ...one, score: one.score + LIKE_KNOWN * (nearest - Math.max(KNOWN_FROM, unanswered)) };
  });
}

const overlap = ([start, end]: Range, [from, to]: Range): boolean => start < to && from < end;

/** The best statement of each passage, best first. */
function bestOfEach(scored: readonly Scored[]): Scored[] {
  const best = new Map<number, Scored>();
  for (const one of scored) {
    const before = best.get(one.passage.number);
    if (!before || one.score > before.score) best.set(one.passage.number, one);
  }
  return [...best.values()].sort((a, b) => b.score - a.score);
}

/** The same, scored by the confidence in the whole passage. */
function byChance(scored: readonly Scored[], sure: typeof certainty): Scored[] {
  const shares = chances(scored.map(({ score }) => score));
  const any = shares.reduce((sum, share) => sum + share, 0);
  const ofPassage = new Map<number, number>();
  for (const [at, { passage }] of scored.entries()) {
    ofPassage.set(passage.number, (ofPassage.get(passage.number) ?? 0) + (shares[at] ?? 0));
  }
  return bestOfEach(scored)
    .map((one) => ({ ...one, score: sure(ofPassage.get(one.passage.number) ?? 0, any) }))
    .sort((a, b) => b.score - a.score);
}

type Statement = Pick<FoundNear, 'passage' | 'similarity' | 'ranks'> & { candidate: Candidate; range: Range };

/** Name of the document, headings, the columns of a table. */
export const contextOf = ({ text, headings, name }: StoredPassage, [start]: Range): string[] =>
  [...new Set([name, ...headings, sectionOf(text, start), columnsOf(text, start)])].filter((part) => part !== '');

/** Name of the document, headings, the first line: the context that the encoder's weights and the QA reranker were fitted with. */
const trainedContext = ({ text, headings, name }: StoredPassage): string[] =>
  [...new Set([name, ...headings, headOf(text)])].filter((part) => part !== '');

/** A statement as the QA reranker was trained on it. */
export const readable = ({ passage, statement }: Scored): string =>
  `${trainedContext(passage).join(', ')}: ${passage.text.slice(...statement)}`;

function statementsIn({ passage, similarity, ranks }: FoundNear, by: Examined['by']): Statement[] {
  const { text, overlap } = passage;
  return answersIn(text, overlap)
    .slice(0, by === 'words' ? MAX_STATEMENTS : MAX_ENCODED)
    .map((range) => {
      const context = by === 'words' ? contextOf(passage, range) : trainedContext(passage);
      const candidate = { text, context: context.join('\n') };
      return { passage, candidate, range, similarity, ranks };
    });
}

function byWords(question: Question, statements: readonly Statement[]): Scored[] {
  const candidates = statements.map(({ candidate, range, ranks }) => ({ candidate, range, rank: ranks.words ?? FAR }));
  const rows = wordFeatures(question, candidates);
  return statements.map(({ passage, range }, at) => {
    const features = rows[at] ?? [];
    return { passage, statement: range, features, score: scoreOf(wordWeights(question.language), features) };
  });
}

/** The question without the words of the context: the attribute that is asked for. */
function withoutContext({ text, language }: Question, context: string): string {
  const known = new Set(contentWords(context, language));
  return text
    .split(/\s+/)
    .filter((word) => {
      const words = contentWords(word, language);
      return words.length === 0 || !words.every((one) => known.has(one));
    })
    .join(' ');
}

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number => {
  let sum = 0;
  if (a && b) for (let i = 0; i < a.length; ++i) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
};

const KEPT_VECTORS = 4000;

/** Cache: the same statements are scored for many questions. */
function createVectorCache(embedding: Embedding) {
  const cache = new Map<string, Float32Array>();
  return async (target: EmbedderTarget, kind: 'query' | 'passage', texts: readonly string[]) => {
    const keyOf = (text: string) => `${target.path}\n${kind}\n${text}`;
    const missing = [...new Set(texts)].filter((text) => !cache.has(keyOf(text)));
    const vectors = missing.length > 0 ? await embedding.embed(target, missing, kind) : [];
    for (const [at, text] of missing.entries()) {
      const vector = vectors[at];
      if (vector) cache.set(keyOf(text), vector);
    }
    const wanted = texts.map((text) => cache.get(keyOf(text)));
    for (const oldest of [...cache.keys()].slice(0, Math.max(0, cache.size - KEPT_VECTORS))) cache.delete(oldest);
    return wanted.map((vector) => vector ?? new Float32Array());
  };
}
