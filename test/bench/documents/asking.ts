import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Scored } from '../../../app/documents/answer/scored-statement.ts';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments } from '../../../app/documents/service.ts';
import { createEngine, type Engine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { openStore } from '../../../app/store/store.ts';
import { manuals } from '../../app/documents/evaluation/set.ts';
import { realModel } from '../../support/models/real-models.mjs';

//  Asks many questions of libraries that share most of their texts, and returns how the app scores each statement.

const root = resolve(import.meta.dirname, '../../..');

export type Asker = {
  /** The statements considered for each question, in a library of these documents and the manuals of packages. */
  ask(
    library: Record<string, string>,
    questions: readonly string[],
    onAnswer?: (found: Scored[]) => void,
  ): Promise<Scored[][]>;
  close(): Promise<void>;
};

/** `reader`: whether the reader is used. `known`: the vectors of texts embedded before; new ones are added. */
export async function openAsker(reader: boolean, known = new Map<string, Float32Array>()): Promise<Asker> {
  const path = await realModel('minilm');
  const real = createEngine({
    startEngine: engineByFork(join(root, 'app/engine/process/main.ts'), {
      worker: join(root, 'app/text/jinja/template-process.ts'),
      pictureWorker: join(root, 'app/pictures/picture-process.ts'),
      addon: join(root, 'build/native/Release/longhand.node'),
    }),
    onStatus: () => {},
  });
  const engine = remembering(real, known);
  const embedders = {
    find: () => ({ target: { path, device: null, threads: null }, name: 'all-MiniLM-L6-v2' }),
    preset: 'minilm' as ModelId,
    reranker: () => null,
    qaReranker: reader ? join(root, 'resources/reader') : null,
  };
  return {
    ask: (library, questions, onAnswer) => ask(engine, embedders, library, questions, onAnswer),
    close: () => real.close(),
  };
}

async function ask(
  engine: Engine,
  embedders: Parameters<typeof createDocuments>[0]['embedders'],
  library: Record<string, string>,
  questions: readonly string[],
  onAnswer: (found: Scored[]) => void = () => {},
): Promise<Scored[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-asking-'));
  const store = await openStore({ folder, migrations: join(root, 'app/store/database/migrations') });
  const documents = createDocuments({
    db: store.db,
    engine,
    embedders,
    emit: () => {},
    dataFolder: folder,
    startParser: parserByFork({
      documentParser: join(root, 'app/documents/parse/parser-process.ts'),
      documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
    }),
    help: null,
    now: Date.now,
  });
  const { id } = await documents.handlers['documents.createCollection']({ name: 'Library' });
  const files = Object.entries({ ...library, ...manuals }).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return { path: join(folder, name), name };
  });
  await documents.handlers['documents.add']({ collectionId: id, files });
  await documents.idle();
  const asked: Scored[][] = [];
  for (const question of questions) {
    const { statements } = await documents.answering.score(question, [id]);
    onAnswer(statements);
    asked.push(statements);
  }
  await documents.close();
  store.close();
  rmSync(folder, { recursive: true, force: true });
  return asked;
}

/** Embeds each text once. */
function remembering(engine: Engine, known: Map<string, Float32Array>): Engine {
  const askOnce: Engine['ask'] = async (name, input) => {
    if (name !== 'embed') return engine.ask(name, input);
    const { texts, kind } = input as { texts: string[]; kind: string };
    const keyOf = (text: string) => `${kind} ${text}`;
    const missing = [...new Set(texts)].filter((text) => !known.has(keyOf(text)));
    for (let at = 0; at < missing.length; at += 32) {
      const part = missing.slice(at, at + 32);
      const { vectors } = (await engine.ask('embed', { ...(input as object), texts: part } as never)) as {
        vectors: Float32Array[];
      };
      for (const [place, vector] of vectors.entries()) known.set(keyOf(part[place] ?? ''), vector);
    }
    return { vectors: texts.map((text) => known.get(keyOf(text))) } as never;
  };
  return { ...engine, ask: askOnce };
}
