import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Engine } from '../../engine/client/engine-client.ts';
import type { EmbedderTarget } from '../../engine/ipc-protocol.ts';
import type { CollectionId } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { collectionPassages, type StoredPassage } from '../../store/documents/chunks.ts';
import { listCollections } from '../../store/documents/collections.ts';
import { cosinesOf, packVector } from '../../store/documents/embeddings.ts';
import { findKnownQuestions, saveKnownQuestions } from '../../store/documents/known-questions.ts';
import type { Range } from '../chunk/sentence-splitter.ts';

//  Questions that people ask about Longhand, each with the sentence of the manual that answers it (resources/help/questions.json).
//  A question is often nearer to another way to ask it than to the sentence that answers it: "I binned a chat" and "A day later it is
//  gone for good" have no word in common. Document expansion, as Nogueira, Yang, Lin, Cho 2019 ("Document Expansion by Query Prediction").

/** `quote`: as it stands in a passage of the manual, with single blanks; null: what is asked is not about Longhand ("How are you?"), or
 *  the manual does not say it. */
const Known = z.array(z.object({ quote: z.string().nullable(), questions: z.array(z.string()) }));
type Known = z.infer<typeof Known>;

/** `similarity`: cosine of the question and the nearest known one that this statement answers. */
export type KnownAnswer = { passage: StoredPassage; statement: Range; similarity: number };
/** `manual`: the collection that is spoken of; `unanswered`: cosine of the question and the nearest known one that it does not answer. */
export type KnownAnswers = { manual: CollectionId | null; answers: KnownAnswer[]; unanswered: number };

export type KnownQuestions = {
  /** The statements of the manual that answer the known questions nearest to this one, those with a cosine of more than `from`.
   *  Nothing is known while the questions are not embedded yet, and without the manual among the collections. */
  like(
    collectionIds: readonly CollectionId[],
    asked: { embedder: number; query: Float32Array; from: number },
  ): Promise<KnownAnswers>;
  /** Embeds the questions with the encoder of the manual, at low priority and once per encoder. Ends when `wanted` does, and goes on
   *  from there the next time. */
  prepare(asked: { embedder: number; target: EmbedderTarget; wanted: () => boolean }): Promise<void>;
};

const FILE = 'questions.json';
const AT_ONCE = 16;
const NEAREST = 8;
/** More than the manual holds, in characters. */
const WHOLE = 1_000_000;

export const NOTHING_KNOWN: KnownAnswers = { manual: null, answers: [], unanswered: -1 };
export const WITHOUT_KNOWN: KnownQuestions = { like: async () => NOTHING_KNOWN, prepare: async () => {} };

/** `folder`: of the manual. */
export function createKnownQuestions({
  db,
  engine,
  folder,
}: {
  db: Database;
  engine: Engine;
  folder: string;
}): KnownQuestions {
  let read: Promise<{ known: Known; sha256: string }> | null = null;
  // A file that is missing or damaged must not take the answers from documents with it.
  const file = () => {
    read ??= readFile(join(folder, FILE), 'utf8')
      .then((text) => ({
        known: Known.parse(JSON.parse(text)),
        sha256: createHash('sha256').update(text).digest('hex'),
      }))
      .catch(() => ({ known: [], sha256: '' }));
    return read;
  };
  let begun: { embedder: number; packed: Uint8Array[] } | null = null;

  return {
    async like(collectionIds, { embedder, query, from }) {
      const manual = listCollections(db).find(({ id, builtIn }) => builtIn && collectionIds.includes(id));
      if (!manual) return NOTHING_KNOWN;
      const { known, sha256 } = await file();
      const vectors = findKnownQuestions(db, embedder, sha256);
      if (!vectors) return NOTHING_KNOWN;
      const cosines = cosinesOf(vectors, query);
      let at = 0;
      const near = known
        .map(({ quote, questions }) => ({ quote, similarity: Math.max(...questions.map(() => cosines[at++] ?? -1)) }))
        .sort((a, b) => b.similarity - a.similarity);
      const answered = near.filter(({ quote, similarity }) => quote !== null && similarity > from).slice(0, NEAREST);
      const passages = (await collectionPassages(db, [manual.id], WHOLE)) ?? [];
      const answers = answered.flatMap(({ quote, similarity }) => {
        for (const passage of passages) {
          const statement = placeOf(quote ?? '', passage.text);
          if (statement) return [{ passage, statement, similarity }];
        }
        return [];
      });
      return { manual: manual.id, answers, unanswered: near.find(({ quote }) => quote === null)?.similarity ?? -1 };
    },
    async prepare({ embedder, target, wanted }) {
      const { known, sha256 } = await file();
      const texts = known.flatMap(({ questions }) => questions);
      if (texts.length === 0 || findKnownQuestions(db, embedder, sha256)) return;
      if (begun?.embedder !== embedder) begun = { embedder, packed: [] };
      const { packed } = begun;
      while (packed.length < texts.length) {
        const some = texts.slice(packed.length, packed.length + AT_ONCE);
        const { vectors } = await engine.ask('embed', { target, texts: some, kind: 'query', urgent: false });
        packed.push(...vectors.map(packVector));
        if (vectors.length === 0 || !wanted()) return;
      }
      saveKnownQuestions(db, embedder, { sha256, vectors: Buffer.concat(packed) });
      begun = null;
    },
  };
}

/** Where `quote` stands in `text`, whatever blanks are between its words. */
function placeOf(quote: string, text: string): Range | null {
  const pattern = quote.split(' ').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const found = new RegExp(pattern.join('\\s+')).exec(text);
  return found && [found.index, found.index + found[0].length];
}
