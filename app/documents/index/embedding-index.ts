import { setTimeout } from 'node:timers/promises';
import type { Engine } from '../../engine/client/engine-client.ts';
import type { EmbedderTarget } from '../../engine/ipc-protocol.ts';
import {
  type Collection,
  type CollectionId,
  type DocumentId,
  LonghandError,
  type ModelId,
  type Report,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import {
  addVectors,
  countVectors,
  dropOtherVectors,
  type Encoding,
  embedderOf,
  findEmbedder,
  forgetLeftovers,
  lastChoice,
  listEncodings,
  listLeftovers,
  listWithoutChoice,
  markChosen,
  nearest,
  type PassageVectors,
  passagesWithout,
  setEmbedder,
  setModel,
  setServing,
} from '../../store/documents/embeddings.ts';
import { statementsOf } from '../chunk/sentence-splitter.ts';
import { createFingerprints } from './embedder-fingerprint.ts';

//  Vectors of passages. Pending work is derived from the database: passages without a vector of their collection's
//  embedder. So it resumes after a crash, and new passages only need wake().
//
//  setModel ──▶ hash the embedder ──▶ embed passages, 8 at a time ──▶ all have vectors (serving) ──▶ drop the old ones
//  Until then the collection is searched with the vectors of the previous embedder, or else with those that exist.

export type Embedders = {
  /** @throws LonghandError `model-missing`, `model-unsupported` if it is not an embedding model */
  find(modelId: ModelId): { target: EmbedderTarget; name: string };
  /** The default of collections; null: keywords only. */
  preset: ModelId | null;
  /** The installed cross-encoder; null: none. */
  reranker(): EmbedderTarget | null;
  /** Folder of the adapter that turns an embedder into a QA reranker (resources/reader); null: none. */
  qaReranker: string | null;
};

export type Embedding = {
  /** The user's choice. */
  choose(collectionId: CollectionId, modelId: ModelId | null): void;
  /** Gives a new collection the embedder that was chosen last, or else the default. */
  begin(collectionId: CollectionId): void;
  stateOf(collection: Collection): Collection['embedding'];
  /** Nearest first; null if none of the collections has vectors, or the query cannot be embedded now. */
  near(
    query: string,
    wanted: {
      collectionIds: readonly CollectionId[];
      documentId?: DocumentId | undefined;
      limit: number;
    },
  ): Promise<Nearby | null>;
  /** Collections with an embedder. */
  collections(): CollectionId[];
  /** Embeds texts with high priority. */
  embed(target: EmbedderTarget, texts: readonly string[], kind: 'query' | 'passage'): Promise<Float32Array[]>;
  /** Scores texts with the cross-encoder; null if none is installed, or it fails. */
  rank(query: string, texts: readonly string[]): Promise<readonly number[] | null>;
  /** Scores statements with the QA reranker of this embedder; null if it has none, or it fails. */
  read(target: EmbedderTarget, question: string, statements: readonly string[]): Promise<readonly number[] | null>;
  /** Call when there may be new passages. */
  wake(): void;
  idle(): Promise<void>;
  close(): Promise<void>;
};

/** `embedder`: its number in the database; `similarity`: cosine with the query. */
export type Nearby = {
  target: EmbedderTarget;
  embedder: number;
  query: Float32Array;
  passages: { passage: number; similarity: number }[];
};

/** Error codes for a QA reranker made for other weights. */
const OTHER_ENCODER: ReadonlySet<string> = new Set(['model-broken', 'model-unsupported']);

const AT_ONCE = 8;
/** Passages whose vectors are removed in one go: some milliseconds. */
const DROPPED_AT_ONCE = 100;
const TOLD_MS = 500;
const AGAIN_MS = 15_000;
/** Shorter passages are not halved: they are about one thing. */
const HALVED_CHARACTERS = 240;
/** Maximum statements per passage; table rows are grouped. */
const MAX_STATEMENTS = 16;

/** The two halves of a passage, split between statements; a short passage as a whole. */
function halvesOf(text: string): string[] {
  if (text.length < HALVED_CHARACTERS) return [text];
  const starts = statementsOf(text).map(([start]) => start);
  const cut = starts.find((start) => start >= text.length / 2) ?? starts.at(-1) ?? 0;
  const halves = [text.slice(0, cut), text.slice(cut)];
  return halves.every((half) => half.trim() !== '') ? halves : [text];
}

function statementTexts(text: string): string[] {
  const ranges = statementsOf(text);
  const each = Math.ceil(ranges.length / MAX_STATEMENTS);
  const groups = Array.from({ length: Math.ceil(ranges.length / each) || 0 }, (_, at) =>
    ranges.slice(at * each, (at + 1) * each),
  );
  return groups.map((group) => text.slice(group[0]?.[0], group.at(-1)?.[1]));
}

/** The texts of a passage that are embedded. Its own vector is the normalised mean of its halves'. */
type Readings = { halves: string[]; statements: string[] };
const readingsOf = (text: string): Readings => ({ halves: halvesOf(text), statements: statementTexts(text) });

function vectorsOf({ halves, statements }: Readings, known: ReadonlyMap<string, Float32Array>): PassageVectors {
  const [first = new Float32Array(), second = first] = halves.map((text) => known.get(text));
  const sum = first.map((value, at) => value + (second[at] ?? 0));
  const length = Math.hypot(...sum) || 1;
  return {
    whole: sum.map((value) => value / length),
    halves: [first, second],
    statements: statements.flatMap((text) => known.get(text) ?? []),
  };
}

/** Number of passages with a vector, per collection. Counting a large collection takes a second, and the number is needed
 *  at every step of an import: so it is counted once, in steps, and then incremented. */
type Counted = Map<CollectionId, { embedder: number; done: number }>;

type Encoder = { embedder: number; target: EmbedderTarget; wanted: () => boolean };
export type EmbeddingOptions = {
  db: Database;
  engine: Engine;
  embedders: Embedders;
  /** The progress of a collection changed. */
  changed: () => void;
  /** All passages of a collection have vectors. Asked again after new ones, which end what is `wanted`. */
  embedded?: (collectionId: CollectionId, encoder: Encoder) => Promise<void>;
  report?: Report;
};

export function createEmbedding({
  db,
  engine,
  embedders,
  changed,
  embedded = async () => {},
  report = console.error,
}: EmbeddingOptions): Embedding {
  const fingerprint = createFingerprints();
  const ending = new AbortController();
  let running: Promise<void> | null = null;
  let again = false;
  let told = 0;
  const counted: Counted = new Map();
  /** Encoders that the QA reranker does not fit. */
  const withoutQaReranker = new Set<string>();

  function wake() {
    if (ending.signal.aborted || db.vectorProblem !== null) return;
    again = true;
    running ??= run()
      .catch((error) => {
        report(error);
        later();
      })
      .finally(() => {
        running = null;
        if (again) wake();
      });
  }

  async function run() {
    while (again && !ending.signal.aborted) {
      again = false;
      // Collections older than the default embedder, and the manual.
      const given = embedders.preset === null ? [] : listWithoutChoice(db);
      for (const id of given) setModel(db, id, embedders.preset);
      if (given.length > 0) changed();
      for (const collectionId of listLeftovers(db)) {
        const given = () => !ending.signal.aborted && listLeftovers(db).includes(collectionId);
        await dropOthers(collectionId, null, given);
        if (given()) forgetLeftovers(db, collectionId);
      }
      for (const encoding of listEncodings(db)) {
        // The embedder is missing or the engine is down: search continues with the existing vectors.
        await build(encoding).catch(() => later());
      }
    }
  }

  function later() {
    void setTimeout(AGAIN_MS, null, { signal: ending.signal, ref: false }).then(wake, () => {});
  }

  /** Whether this is still the user's choice. */
  const current = ({ collectionId, modelId }: Encoding): boolean =>
    !ending.signal.aborted &&
    listEncodings(db).some((one) => one.collectionId === collectionId && one.modelId === modelId);

  async function count({ collectionId, embedder }: Encoding, goOn: () => boolean) {
    if (embedder === null || counted.get(collectionId)?.embedder === embedder) return;
    let done = 0;
    for (let after: number | null = 0; after !== null; await setTimeout(0)) {
      if (!goOn()) return;
      const found = countVectors(db, collectionId, embedder, after);
      done += found.count;
      after = found.after;
    }
    counted.set(collectionId, { embedder, done });
    changed();
  }

  async function build(encoding: Encoding) {
    await count(encoding, () => current(encoding));
    const { collectionId, modelId, serving } = encoding;
    const { target } = embedders.find(modelId);
    const { number } = embedderOf(db, modelId, await fingerprint(target.path));
    if (!current(encoding)) return;
    if (encoding.embedder !== number) setEmbedder(db, collectionId, number);
    await count({ ...encoding, embedder: number }, () => current(encoding));
    const progress = counted.get(collectionId);
    // Neighbouring passages share statements, and a short passage is its own half: each text is embedded once.
    let known = new Map<string, Float32Array>();
    for (let after: number | null = 0; after !== null && current(encoding); ) {
      const found = passagesWithout(db, collectionId, number, { after, limit: AT_ONCE });
      const { passages } = found;
      after = found.after;
      // If every text is known, nothing below yields: a document of one repeated sentence would block everything else.
      await setTimeout(0);
      if (passages.length === 0) continue;
      const readings = passages.map(({ text }) => readingsOf(text));
      const texts = new Set(readings.flatMap(({ halves, statements }) => [...halves, ...statements]));
      known = new Map([...known].filter(([text]) => texts.has(text)));
      for (let left = [...texts].filter((text) => !known.has(text)); left.length > 0; ) {
        const { vectors } = await engine.ask('embed', { target, texts: left, kind: 'passage', urgent: false });
        if (!current(encoding)) return;
        for (const [at, vector] of vectors.entries()) known.set(left[at] ?? '', vector);
        left = left.slice(vectors.length);
      }
      const rows = passages.map(({ passage, document }, at) => ({
        passage,
        document,
        vectors: vectorsOf(readings[at] ?? { halves: [], statements: [] }, known),
      }));
      const added = addVectors(db, number, rows);
      if (progress) progress.done += added;
      tell();
    }
    if (!current(encoding)) return;
    if (serving !== number) setServing(db, collectionId, number);
    await dropOthers(collectionId, number, () => current(encoding));
    changed();
    await embedded(collectionId, { embedder: number, target, wanted: () => !again && current(encoding) });
  }

  /** Deletes in small batches, so that other requests need not wait. Stops when `goOn` returns false. */
  async function dropOthers(collectionId: CollectionId, embedder: number | null, goOn: () => boolean) {
    for (let after: number | null = 0; after !== null && goOn(); await setTimeout(0))
      after = dropOtherVectors(db, collectionId, embedder, { after, limit: DROPPED_AT_ONCE });
  }

  function tell() {
    if (Date.now() - told < TOLD_MS) return;
    told = Date.now();
    changed();
  }

  /** The embedder with complete vectors if its files are unchanged; else the one being built. */
  async function searched({ embedder, serving }: Encoding): Promise<{ number: number; target: EmbedderTarget } | null> {
    for (const number of [serving, embedder]) {
      const row = number === null ? undefined : findEmbedder(db, number);
      if (!row) continue;
      try {
        const { target } = embedders.find(row.modelId);
        if ((await fingerprint(target.path)) === row.sha256) return { number: row.number, target };
      } catch {
        // Its files are gone: fall back to the other one, or to keywords.
      }
    }
    return null;
  }

  async function embed(target: EmbedderTarget, texts: readonly string[], kind: 'query' | 'passage') {
    const { vectors } = await engine.ask('embed', { target, texts: [...texts], kind, urgent: true });
    return vectors;
  }

  return {
    choose(collectionId, modelId) {
      if (modelId !== null) {
        embedders.find(modelId);
        if (db.vectorProblem !== null) throw new LonghandError('internal', db.vectorProblem);
      }
      db.transaction(() => {
        setModel(db, collectionId, modelId);
        markChosen(db, collectionId);
      });
      // Its vectors are deleted.
      if (modelId === null) counted.delete(collectionId);
      wake();
    },
    begin(collectionId) {
      if (db.vectorProblem !== null) return;
      const chosen = lastChoice(db);
      if (chosen === null) markChosen(db, collectionId);
      else setModel(db, collectionId, chosen !== undefined && isThere(chosen) ? chosen : embedders.preset);
      wake();
    },
    stateOf({ id, passages }) {
      const encoding = listEncodings(db).find(({ collectionId }) => collectionId === id);
      if (!encoding) return null;
      const progress = counted.get(id);
      const known = progress?.embedder === encoding.embedder ? progress : undefined;
      // Removed passages are not subtracted one by one.
      if (known) known.done = Math.min(known.done, passages);
      const complete = encoding.embedder !== null && encoding.embedder === encoding.serving;
      const done = known?.done ?? (complete ? passages : 0);
      return { modelId: encoding.modelId, name: nameOf(encoding.modelId), done, total: passages };
    },
    async near(query, { collectionIds, ...wanted }) {
      if (db.vectorProblem !== null) return null;
      const groups = new Map<number, { target: EmbedderTarget; collectionIds: CollectionId[] }>();
      for (const encoding of listEncodings(db).filter((one) => collectionIds.includes(one.collectionId))) {
        const found = await searched(encoding);
        if (!found) continue;
        const group = groups.get(found.number) ?? { target: found.target, collectionIds: [] };
        group.collectionIds.push(encoding.collectionId);
        groups.set(found.number, group);
      }
      // Cosines of different encoders are not comparable: use the one that most collections have.
      const [best] = [...groups].sort(([, a], [, b]) => b.collectionIds.length - a.collectionIds.length);
      if (!best) return null;
      const [number, group] = best;
      // If the embedder fails, search by keywords and report it.
      const [vector] = await embed(group.target, [query], 'query').catch(() => []);
      if (!vector) return null;
      const passages = await nearest(db, number, vector, {
        ...wanted,
        collectionIds: group.collectionIds,
      });
      return { target: group.target, embedder: number, query: vector, passages };
    },
    collections: () => listEncodings(db).map(({ collectionId }) => collectionId),
    embed,
    async rank(query, texts) {
      const target = embedders.reranker();
      if (target === null || texts.length === 0) return null;
      // Without scores the order stays as it is.
      const ranked = await engine.ask('rank', { target, query, texts: [...texts] }).catch(() => null);
      return ranked?.scores ?? null;
    },
    async read(target, question, statements) {
      const { qaReranker } = embedders;
      if (qaReranker === null || statements.length === 0 || withoutQaReranker.has(target.path)) return null;
      try {
        const asked = { target: { ...target, adapter: qaReranker }, query: question, texts: [...statements] };
        return (await engine.ask('rank', asked)).scores;
      } catch (error) {
        // Made for another embedder: a lasting condition, unlike an engine that is down.
        if (error instanceof LonghandError && OTHER_ENCODER.has(error.code)) withoutQaReranker.add(target.path);
        return null;
      }
    },
    wake,
    async idle() {
      while (running) await running;
    },
    async close() {
      ending.abort();
      await running;
    },
  };

  function isThere(modelId: ModelId): boolean {
    try {
      return embedders.find(modelId) !== undefined;
    } catch {
      return false;
    }
  }

  function nameOf(modelId: ModelId): string {
    try {
      return embedders.find(modelId).name;
    } catch {
      return modelId;
    }
  }
}
