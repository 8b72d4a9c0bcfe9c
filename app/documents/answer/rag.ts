import type { CollectionId, Grounding, Source } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { beginnings, collectionPassages, passagesNumbered, type StoredPassage } from '../../store/documents/chunks.ts';
import { locationOfPassage } from '../chunk/location.ts';
import { unpackSpans } from '../chunk/span-codec.ts';
import type { Embedding } from '../index/embedding-index.ts';
import { isTask } from '../search/query-rewrite.ts';
import { createAnswerScorer, type ScoreAnswers } from './answer-scoring.ts';
import { quoteFrom } from './best-quote.ts';
import type { KnownQuestions } from './known-questions.ts';

//  From a question to the passages for the prompt, or to "not in your documents" without asking the model.
//
//  find ──▶ score every statement of the best passages ──▶ sure enough? ──▶ sources, best first
//                                                              └─ no ──▶ found: false, with the closest passages

export type Asked = {
  /** The search query, expanded with earlier messages. */
  question: string;
  collectionIds: readonly CollectionId[];
  budget: PromptBudget;
  /** Nothing is an answer unless a known question that has one is as near as this, as a cosine. */
  known?: number;
};

/** Room for passages in the prompt. */
export type PromptBudget = {
  tokens: number;
  /** Maximum passages that the model can handle. */
  passages: number;
  count(text: string): Promise<number>;
};

export type Rag = {
  ground(asked: Asked): Promise<Grounding>;
  score: ScoreAnswers;
};

/** Passages shown when nothing was found. */
const CLOSEST = 3;
/** Characters per token, generously: a larger collection cannot fit and is not counted. */
const TOKEN_CHARACTERS = 6;

export function createRag(options: { db: Database; embedding: Embedding; known: KnownQuestions }): Rag {
  const { db } = options;
  const score = createAnswerScorer(options);

  async function ground({ question, collectionIds, budget, known = -1 }: Asked): Promise<Grounding> {
    const all = await whole(db, collectionIds, budget);
    if (isTask(question)) {
      const passages = all ?? (await fitting(leading(db, collectionIds, budget), budget));
      const by = all ? 'whole-documents' : 'words';
      return { found: passages.length > 0, by, question, sources: sourcesOf(passages), support: [], quote: null };
    }
    const { by, sure, candidates } = await score(question, collectionIds, known);
    const best = candidates.map(({ passage }) => passage);
    const sources = sourcesOf(
      sure ? (all ?? (await fitting(best.slice(0, budget.passages), budget))) : best.slice(0, CLOSEST),
    );
    const [top] = candidates;
    const first = sources.find(({ passageId }) => passageId === top?.passage.id);
    const alsoIn = top?.also?.map((other) => (other.name === top.passage.name ? other.fileName : other.name)) ?? [];
    const quote = top && first ? { ...quoteFrom(first, top.statement), ...(alsoIn.length > 0 && { alsoIn }) } : null;
    if (!sure) return { found: false, by, question, sources, support: [], quote };
    return { found: true, by: all ? 'whole-documents' : by, question, sources, support: [], quote };
  }

  return { ground, score };
}

/** All passages in order if they fit; null if not. */
async function whole(
  db: Database,
  collectionIds: readonly CollectionId[],
  room: PromptBudget,
): Promise<StoredPassage[] | null> {
  const passages = await collectionPassages(db, collectionIds, room.tokens * TOKEN_CHARACTERS);
  if (!passages || passages.length === 0) return null;
  const fit = await fitting(passages, room);
  return fit.length === passages.length ? fit : null;
}

/** The beginnings of the documents, for requests about whole documents ("summarise"). */
function leading(db: Database, collectionIds: readonly CollectionId[], room: PromptBudget): StoredPassage[] {
  const numbers = beginnings(db, collectionIds, room.passages * 2);
  return [...passagesNumbered(db, numbers).values()];
}

/** As many passages as fit, in order; at least the first. */
async function fitting(passages: readonly StoredPassage[], room: PromptBudget): Promise<StoredPassage[]> {
  const fit: StoredPassage[] = [];
  let left = room.tokens;
  for (const passage of passages) {
    left -= (await room.count(passage.text)) + 16;
    if (left < 0 && fit.length > 0) break;
    fit.push(passage);
  }
  return fit;
}

const sourcesOf = (passages: readonly StoredPassage[]): Source[] =>
  passages.map(({ id, documentId, collectionId, name, text, overlap, spans }, at) => ({
    number: at + 1,
    passageId: id,
    documentId,
    collectionId,
    name,
    location: locationOfPassage({ overlap, spans }),
    text,
    spans: unpackSpans(spans),
    cited: false,
  }));
