import type { EncoderTarget } from '../engine/asks.ts';
import type { CollectionId, Grounding, Source } from '../protocol/index.ts';
import type { Database } from '../store/database.ts';
import { beginnings, collectionPassages, passagesNumbered, type StoredPassage } from '../store/passages.ts';
import type { Embedding } from './embedding.ts';
import {
  answersIn,
  BY_MEANING,
  BY_WORDS,
  type Candidate,
  chances,
  featuresOf,
  headOf,
  type Question,
  scoreOf,
} from './evidence.ts';
import { type FoundNear, find, weighWords } from './find.ts';
import { isTask } from './question.ts';
import { quoteFrom } from './quote.ts';
import { unpackSpans } from './spans.ts';
import type { Range } from './statements.ts';
import { contentWords } from './terms.ts';

//  From a question to the passages that are laid before the model, or to "not in your documents" without asking it.
//
//  find ──▶ examine every statement of the best passages ──▶ sure enough? ──▶ sources, best first
//                                                              └─ no ──▶ found: false, with the closest passages

export type Asked = {
  /** As it is searched: with what the chat before it adds. */
  question: string;
  collectionIds: readonly CollectionId[];
  room: Room;
};

/** What a prompt has left for passages. */
export type Room = {
  tokens: number;
  /** Most passages that this model keeps apart. */
  passages: number;
  count(text: string): Promise<number>;
};

export type Answering = {
  ground(asked: Asked): Promise<Grounding>;
  /** Best first, with the statement that speaks most for it. */
  examine(question: string, collectionIds: readonly CollectionId[]): Promise<Examined>;
};

/** `candidates`: the best statement of each passage, best first, with the chance of the passage (by words alone: log odds);
 *  `statements`: all that were looked at. */
export type Examined = {
  by: 'words' | 'words-and-meaning';
  sure: boolean;
  candidates: Scored[];
  statements: Scored[];
};
export type Scored = { passage: StoredPassage; score: number; statement: Range; features: number[] };

const CANDIDATES = 10;
/** A passage of many short lines must not make everybody wait. */
const STATEMENTS_EACH = 14;
/** Shown when nothing was found. */
const CLOSEST = 3;
/** Characters of a token, at least: a collection with more than that many is not counted. */
const TOKEN_CHARACTERS = 6;

export function createAnswering({ db, embedding }: { db: Database; embedding: Embedding }): Answering {
  const seen = createVectorCache(embedding);

  async function examine(text: string, collectionIds: readonly CollectionId[]): Promise<Examined> {
    const { by, found, target, query } = await find(db, embedding, { query: text, collectionIds, limit: CANDIDATES });
    const question: Question = { text, ...weighWords(db, text) };
    const statements = found.flatMap((one) => statementsIn(one));
    const scored =
      target && query
        ? await byMeaning(question, statements, target, query)
        : statements.map((one) => byWords(question, one));
    const candidates = by === 'words' ? bestOfEach(scored) : byChance(scored);
    const { threshold } = by === 'words' ? BY_WORDS : BY_MEANING;
    return {
      by,
      sure: (candidates[0]?.score ?? Number.NEGATIVE_INFINITY) >= threshold,
      candidates,
      statements: scored,
    };
  }

  async function byMeaning(question: Question, statements: Statement[], target: EncoderTarget, query: Float32Array) {
    const asked = statements.map(({ candidate }) => withoutContext(question.text, candidate.context));
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

  async function ground({ question, collectionIds, room }: Asked): Promise<Grounding> {
    const all = await whole(db, collectionIds, room);
    if (isTask(question)) {
      const passages = all ?? (await fitting(leading(db, collectionIds, room), room));
      const by = all ? 'whole-documents' : 'words';
      return { found: passages.length > 0, by, question, sources: sourcesOf(passages), support: [], quote: null };
    }
    const { by, sure, candidates } = await examine(question, collectionIds);
    const best = candidates.map(({ passage }) => passage);
    if (!sure) {
      return { found: false, by, question, sources: sourcesOf(best.slice(0, CLOSEST)), support: [], quote: null };
    }
    const sources = sourcesOf(all ?? (await fitting(best.slice(0, room.passages), room)));
    const [top] = candidates;
    const first = sources.find(({ passageId }) => passageId === top?.passage.id);
    const quote = top && first ? quoteFrom(first, top.statement) : null;
    return { found: true, by: all ? 'whole-documents' : by, question, sources, support: [], quote };
  }

  return { ground, examine };
}

/** The best statement of each passage, best first. */
function bestOfEach(scored: readonly Scored[]): Scored[] {
  const best = new Map<number, Scored>();
  for (const one of scored) {
    const before = best.get(one.passage.number);
    if (!before || one.score > before.score) best.set(one.passage.number, one);
  }
  return [...best.values()].sort((a, b) => b.score - a.score);
}

/** The same with the chance of the whole passage as its score. */
function byChance(scored: readonly Scored[]): Scored[] {
  const shares = chances(scored.map(({ score }) => score));
  const ofPassage = new Map<number, number>();
  for (const [at, { passage }] of scored.entries()) {
    ofPassage.set(passage.number, (ofPassage.get(passage.number) ?? 0) + (shares[at] ?? 0));
  }
  return bestOfEach(scored)
    .map((one) => ({ ...one, score: ofPassage.get(one.passage.number) ?? 0 }))
    .sort((a, b) => b.score - a.score);
}

type Statement = Pick<FoundNear, 'passage' | 'similarity' | 'ranks'> & { candidate: Candidate; range: Range };

function statementsIn({ passage, similarity, ranks }: FoundNear): Statement[] {
  const { text, headings, name } = passage;
  const context = [...new Set([name, ...headings, headOf(text)])].filter((part) => part !== '').join('\n');
  const candidate = { text, context };
  return answersIn(candidate)
    .slice(0, STATEMENTS_EACH)
    .map((range) => ({ passage, candidate, range, similarity, ranks }));
}

function byWords(question: Question, { passage, candidate, range }: Statement): Scored {
  const features = featuresOf(question, candidate, range, null);
  return { passage, statement: range, features, score: scoreOf(BY_WORDS, features) };
}

/** What is asked of the thing that the document, or the section, is about. */
function withoutContext(question: string, context: string): string {
  const known = new Set(contentWords(context));
  return question
    .split(/\s+/)
    .filter((word) => {
      const words = contentWords(word);
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

/** The same statements are looked at for many questions. */
function createVectorCache(embedding: Embedding) {
  const kept = new Map<string, Float32Array>();
  return async (target: EncoderTarget, kind: 'query' | 'passage', texts: readonly string[]) => {
    const keyOf = (text: string) => `${target.path}\n${kind}\n${text}`;
    const missing = [...new Set(texts)].filter((text) => !kept.has(keyOf(text)));
    const vectors = missing.length > 0 ? await embedding.embed(target, missing, kind) : [];
    for (const [at, text] of missing.entries()) {
      const vector = vectors[at];
      if (vector) kept.set(keyOf(text), vector);
    }
    const wanted = texts.map((text) => kept.get(keyOf(text)));
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - KEPT_VECTORS))) kept.delete(oldest);
    return wanted.map((vector) => vector ?? new Float32Array());
  };
}

/** Everything, in order, when it fits; null when it does not. */
async function whole(
  db: Database,
  collectionIds: readonly CollectionId[],
  room: Room,
): Promise<StoredPassage[] | null> {
  const passages = collectionPassages(db, collectionIds, room.tokens * TOKEN_CHARACTERS);
  if (!passages || passages.length === 0) return null;
  const fit = await fitting(passages, room);
  return fit.length === passages.length ? fit : null;
}

/** The beginnings of the documents, for what is asked of all of them ("summarise"). */
function leading(db: Database, collectionIds: readonly CollectionId[], room: Room): StoredPassage[] {
  const numbers = beginnings(db, collectionIds, room.passages * 2);
  return [...passagesNumbered(db, numbers).values()];
}

/** As many as there is room for, from the first on; the first one always. */
async function fitting(passages: readonly StoredPassage[], room: Room): Promise<StoredPassage[]> {
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
  passages.map(({ id, documentId, collectionId, name, label, text, spans }, at) => ({
    number: at + 1,
    passageId: id,
    documentId,
    collectionId,
    name,
    label,
    text,
    spans: unpackSpans(spans),
    cited: false,
  }));
