// The passages that the app would give for questions about Longhand: node resources/assistant/train/manual.ts QUESTIONS OUT
// QUESTIONS: a line of JSON each, {"question", "quote", "answer"}, without the last two where the manual does not say it.
// OUT: all passages of the manual once, and of each question the places of four in that list, one of them with the quote if there is one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { withoutTheApp } from '../../../app/chat/turns/about-longhand.ts';
import { locationOfPassage } from '../../../app/documents/chunk/location.ts';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments } from '../../../app/documents/service.ts';
import { createEngine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { collectionPassages, type StoredPassage } from '../../../app/store/documents/chunks.ts';
import { listCollections } from '../../../app/store/documents/collections.ts';
import { openStore } from '../../../app/store/store.ts';
import { whereOf } from '../../../app/text/location.ts';

const PASSAGES = 4;
const ENOUGH = 1_000_000;

const root = resolve(import.meta.dirname, '../../..');
const [from, out] = process.argv.slice(2);
if (from === undefined || out === undefined)
  throw new Error('[manual] say what to read and where to write: manual.ts QUESTIONS OUT');

type Question = { question: string; quote?: string; answer?: string };
const questions = readFileSync(from, 'utf8')
  .trim()
  .split('\n')
  .map((line): Question => JSON.parse(line));

const folder = mkdtempSync(join(tmpdir(), 'longhand-manual-'));
const engine = createEngine({
  startEngine: engineByFork(join(root, 'app/engine/process/main.ts'), {
    worker: join(root, 'app/text/jinja/template-process.ts'),
    pictureWorker: join(root, 'app/pictures/picture-process.ts'),
    addon: join(root, 'build/native/Release/longhand.node'),
  }),
  onStatus: () => {},
});
const store = await openStore({ folder, migrations: join(root, 'app/store/database/migrations') });
const documents = createDocuments({
  db: store.db,
  engine,
  embedders: {
    find: () => ({
      target: { path: join(root, 'resources/encoder'), device: null, threads: null },
      name: 'all-MiniLM-L6-v2',
    }),
    preset: 'minilm' as ModelId,
    reranker: () => null,
    qaReranker: join(root, 'resources/reader'),
  },
  emit: () => {},
  dataFolder: folder,
  startParser: parserByFork({
    documentParser: join(root, 'app/documents/parse/parser-process.ts'),
    documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
  }),
  help: join(root, 'resources/help'),
  now: Date.now,
});
// The manual is read some seconds after the start.
const builtIn = () => listCollections(store.db).find((one) => one.builtIn);
while (!builtIn()) await setTimeout(500);
await documents.idle();
const manual = builtIn();
if (!manual) throw new Error('[manual] the manual is gone');
const all = (await collectionPassages(store.db, [manual.id], ENOUGH)) ?? [];

const plain = (text: string) =>
  text
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
const shown = (passage: StoredPassage) => ({
  place: whereOf({ name: passage.name, location: locationOfPassage(passage) }),
  text: passage.text,
});

const lines: string[] = [];
for (const { question, quote, answer } of questions) {
  const { statements } = await documents.answering.score(withoutTheApp(question), [manual.id]);
  const found = [...new Map(statements.map(({ passage }) => [passage.id, passage])).values()].slice(0, PASSAGES);
  const wanted = quote === undefined ? undefined : plain(quote);
  const right =
    wanted === undefined
      ? undefined
      : (found.find(({ text }) => plain(text).includes(wanted)) ??
        all.find(({ text }) => plain(text).includes(wanted)));
  if (wanted !== undefined && !right) {
    console.error(`[manual] no passage holds "${quote}"`);
    continue;
  }
  if (right && !found.includes(right)) found.splice(PASSAGES - 1, 1, right);
  const places = found.map((passage) => all.findIndex(({ id }) => id === passage.id));
  lines.push(JSON.stringify({ question, quote: wanted, answer, passages: places }));
}
const quoted = all.map(shown).map((passage) => JSON.stringify(passage));
writeFileSync(out, `{"passages":[\n${quoted.join(',\n')}\n],"questions":[\n${lines.join(',\n')}\n]}\n`);
await documents.close();
store.close();
await engine.close();
rmSync(folder, { recursive: true, force: true });
