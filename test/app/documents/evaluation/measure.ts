import type { Scored } from '../../../../app/documents/answer/scored-statement.ts';
import { createEmbedding, type EmbeddingOptions } from '../../../../app/documents/index/embedding-index.ts';
import type { CollectionId } from '../../../../app/protocol/index.ts';
import { passagesNumbered } from '../../../../app/store/documents/chunks.ts';
import type { Shelf } from '../../../support/documents/documents.ts';
import type { Answerable, QuestionSet, Unanswerable } from './set.ts';

/** What the search and the part without a language model make of a question. */
export type Measured = {
  question: Answerable | Unanswerable;
  by: 'words' | 'words-and-meaning';
  /** Place of the gold passage among those found, from 1; null when it is not there. */
  place: number | null;
  /** The chance (by words alone: log odds) of the best passage, and whether it holds the gold fact. */
  score: number;
  right: boolean;
  /** Whether the quoted sentence itself holds it. */
  says: boolean;
  sure: boolean;
  candidates: Scored[];
  statements: Scored[];
};

const FOUND = 20;
/** As many as a search looks at (app/documents/search/hybrid-search.ts). */
const LOOKED_AT = 100;

export async function measure(
  shelf: Shelf,
  collectionId: CollectionId,
  { answerable, unanswerable }: QuestionSet,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const question of [...answerable, ...unanswerable]) {
    const collectionIds = [collectionId];
    const { hits } = await shelf.call('documents.search', { query: question.question, collectionIds, limit: FOUND });
    const examined = await shelf.documents.answering.score(question.question, collectionIds);
    const passages = await Promise.all(hits.map(({ passageId }) => shelf.call('documents.passage', { passageId })));
    const place = passages.findIndex(({ text }) => holds(question, text));
    const [best] = examined.candidates;
    measured.push({
      ...examined,
      question,
      place: place < 0 ? null : place + 1,
      score: best?.score ?? Number.NEGATIVE_INFINITY,
      right: best !== undefined && holds(question, best.passage.text),
      says: best !== undefined && holds(question, best.passage.text.slice(...best.statement)),
    });
  }
  return measured;
}

/** Whether a text has the fact that answers the question. The facts stand once in all documents. */
export const holds = (question: Answerable | Unanswerable, text: string): boolean =>
  'gold' in question && oneLine(text).includes(oneLine(question.gold));

const oneLine = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');

export type Rates = { answered: number; right: number; says: number; refused: number; refusedNear: number };

/** `answered`: of the answerable; `right`: of those, the cited passage holds the fact, `says`: the quoted sentence does;
 *  `refused`: of the unanswerable. */
export function ratesAt(measured: readonly Measured[], accepts: (one: Measured) => boolean): Rates {
  const can = measured.filter(({ question }) => 'gold' in question);
  const cannot = measured.filter(({ question }) => !('gold' in question));
  const answered = can.filter(accepts);
  const near = cannot.filter(({ question }) => 'distance' in question && question.distance === 'near');
  return {
    answered: answered.length / can.length,
    right: answered.filter(({ right }) => right).length / Math.max(1, answered.length),
    says: answered.filter(({ says }) => says).length / Math.max(1, answered.length),
    refused: cannot.filter((one) => !accepts(one)).length / cannot.length,
    refusedNear: near.filter((one) => !accepts(one)).length / near.length,
  };
}

/** Share of the answerable whose gold passage is among the first `places`. */
export function found(measured: readonly Measured[], places: number): number {
  const can = measured.filter(({ question }) => 'gold' in question);
  return can.filter(({ place }) => place !== null && place <= places).length / can.length;
}

/** Share of the answerable whose gold passage is among the first `places` by nearest vectors alone. */
export async function foundByMeaning(
  shelf: Shelf,
  collectionId: CollectionId,
  { answerable }: QuestionSet,
  encoder: Pick<EmbeddingOptions, 'engine' | 'embedders'>,
  places: number,
): Promise<number> {
  const embedding = createEmbedding({ db: shelf.db, ...encoder, changed: () => {} });
  let count = 0;
  for (const question of answerable) {
    const near = await embedding.near(question.question, { collectionIds: [collectionId], limit: LOOKED_AT });
    const passages = passagesNumbered(shelf.db, near?.passages.slice(0, places).map(({ passage }) => passage) ?? []);
    if ([...passages.values()].some(({ text }) => holds(question, text))) count++;
  }
  await embedding.close();
  return count / answerable.length;
}

/** Risk and coverage: what is right when the surest so many percent are answered. */
export function riskCoverage(measured: readonly Measured[]): { coverage: number; right: number; refused: number }[] {
  const scores = measured
    .filter(({ question }) => 'gold' in question)
    .map(({ score }) => score)
    .sort((a, b) => b - a);
  return [0.5, 0.6, 0.7, 0.8, 0.9, 1].map((coverage) => {
    const least = scores[Math.ceil(coverage * scores.length) - 1] ?? 0;
    const { right, refused } = ratesAt(measured, ({ score }) => score >= least);
    return { coverage, right, refused };
  });
}
