// How long a question takes to find its passages: node test/bench/documents/search.ts [PASSAGES]
// Random passages with random vectors in a real database; the encoder is left out (it takes the time of one short text).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createFingerprints } from '../../../app/documents/index/embedder-fingerprint.ts';
import { createEmbedding } from '../../../app/documents/index/embedding-index.ts';
import { find } from '../../../app/documents/search/hybrid-search.ts';
import type { Engine } from '../../../app/engine/client/engine-client.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { addContent } from '../../../app/store/documents/chunks.ts';
import { createCollection } from '../../../app/store/documents/collections.ts';
import { addDocument } from '../../../app/store/documents/documents.ts';
import { addVectors, embedderOf, setEmbedder, setModel, setServing } from '../../../app/store/documents/embeddings.ts';
import { openStore } from '../../../app/store/store.ts';

const count = Number(process.argv[2] ?? 50_000);
const dimensions = 384;
const folder = mkdtempSync(join(tmpdir(), 'longhand-search-'));
const weights = join(folder, 'model.gguf');
writeFileSync(weights, 'not read');

let state = 7;
const random = () => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
};
/** Words with the frequencies of real text: the tenth is half as frequent as the fifth. */
const word = () => `w${Math.floor(30_000 ** random())}`;
const text = (words: number) => Array.from({ length: words }, word).join(' ');
function vector(): Float32Array {
  const values = Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

const { db, close } = await openStore({ folder, migrations: resolve('app/store/database/migrations') });
const { id } = createCollection(db, 'Bench', false, 0);
const { number: document } = addDocument(
  db,
  {
    collectionId: id,
    fileName: 'bench.txt',
    kind: 'text',
    bytes: 1,
    sourcePath: '/bench.txt',
    sourceChangedAt: 0,
    watched: false,
  },
  0,
);
const modelId = 'encoder' as ModelId;
const embedders = {
  find: () => ({ target: { path: weights, device: null, threads: null }, name: 'bench' }),
  preset: null,
  reranker: () => null,
  qaReranker: null,
};
const engine = { ask: async () => ({ vectors: [vector()] }) } as unknown as Engine;
const encoder = embedderOf(db, modelId, await createFingerprints()(weights)).number;

for (let done = 0; done < count; done += 1000) {
  const passages = Array.from({ length: 1000 }, () => ({
    text: text(150),
    overlap: 0,
    headings: [],
    spans: new Uint8Array(),
  }));
  addContent(db, { number: document, name: 'Bench', code: false }, { blocks: [], passages, position: done + 1 }, 0);
  const rows = Array.from({ length: 1000 }, (_, at) => ({
    passage: done + at + 1,
    document,
    vectors: { whole: vector(), halves: [vector(), vector()] as const, statements: Array.from({ length: 9 }, vector) },
  }));
  addVectors(db, encoder, rows);
}
setModel(db, id, modelId);
setEmbedder(db, id, encoder);
setServing(db, id, encoder);

const embedding = createEmbedding({ db, engine, embedders, changed: () => {} });
const times: number[] = [];
const processor: number[] = [];
for (let round = 0; round < 40; ++round) {
  // The words that a question names, not those of every sentence.
  const query = Array.from({ length: 5 }, () => `w${50 + Math.floor(600 ** (1 + random() / 2))}`).join(' ');
  const [began, used] = [performance.now(), process.cpuUsage()];
  const { by } = await find(db, embedding, { query, collectionIds: [id], limit: 10 });
  times.push(performance.now() - began);
  const { user, system } = process.cpuUsage(used);
  processor.push((user + system) / 1000);
  if (by !== 'words-and-meaning') throw new Error('the vectors were not used');
}
times.sort((a, b) => a - b);
processor.sort((a, b) => a - b);
process.stdout.write(
  `${count} passages: ${times[0]?.toFixed(0)} ms at best, ${times[20]?.toFixed(0)} ms median, ${times[37]?.toFixed(0)} ms p95; ` +
    `processor time ${processor[20]?.toFixed(0)} ms median\n`,
);
await embedding.close();
close();
rmSync(folder, { recursive: true, force: true });
