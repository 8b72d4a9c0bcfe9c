// Runs an examination without a language model: node test/bench/documents/exam.ts PATH [--documents FOLDER] [--meaning]
// PATH is a folder with questions.json (and documents/, or --documents), or a .jsonl of passages with questions as SQuAD has them.
// --half a|b takes half of the articles by the hash of their titles, --most N at most that many questions. --keep FOLDER keeps the
// parsed documents for the next run. --meaning uses the built-in encoder and the reader; the default is keywords alone.
// --out FILE writes every question with its result.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { locationOfPassage } from '../../../app/documents/chunk/location.ts';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments, type DocumentsOptions } from '../../../app/documents/service.ts';
import { createEngine, type Engine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { CollectionId, ModelId } from '../../../app/protocol/index.ts';
import { openStore } from '../../../app/store/store.ts';
import { whereOf } from '../../../app/text/location.ts';
import { type Exam, type ExamQuestion, holds, interval, readExam, says } from '../../support/documents/exam-sets.ts';
import { noEncoders } from '../../support/documents/no-encoders.ts';
import { readOptions } from '../options.mjs';

const { values, positionals } = readOptions(import.meta.filename, {
  allowPositionals: true,
  options: {
    documents: { type: 'string' },
    meaning: { type: 'boolean', default: false },
    half: { type: 'string' },
    most: { type: 'string', default: '100000' },
    keep: { type: 'string' },
    out: { type: 'string' },
  },
});
const [path] = positionals;
if (path === undefined) throw new Error('[exam] no examination named; --help says how');
const root = resolve(import.meta.dirname, '../../..');
const FOUND = 5;

type Made = {
  id: string;
  question: string;
  kinds: readonly string[];
  answerable: boolean;
  /** The rank of the first of five passages that contains the fact. */
  place: number | null;
  sure: boolean;
  score: number;
  right: boolean;
  says: boolean;
  quote: string;
  from: string;
  statements: {
    passage: number;
    text: string;
    features: readonly number[];
    score: number;
    says: boolean;
    holds: boolean;
  }[];
};

type Meaning = Pick<DocumentsOptions, 'embedders'> & { engine: DocumentsOptions['engine'] | Engine };

function meaning(): Meaning {
  const encoder = join(root, 'resources/encoder');
  const engine = createEngine({
    startEngine: engineByFork(join(root, 'app/engine/process/main.ts'), {
      worker: join(root, 'app/text/jinja/template-process.ts'),
      pictureWorker: join(root, 'app/pictures/picture-process.ts'),
      addon: join(root, 'build/native/Release/longhand.node'),
    }),
    onStatus: () => {},
  });
  const embedders = {
    find: () => ({ target: { path: encoder, device: null, threads: null }, name: 'all-MiniLM-L6-v2' }),
    preset: 'minilm' as ModelId,
    reranker: () => null,
    qaReranker: join(root, 'resources/reader'),
  };
  return { engine, embedders };
}

async function openLibrary({ files }: Exam) {
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'longhand-exam-'));
  const known = existsSync(join(folder, 'longhand.db'));
  mkdirSync(join(folder, 'texts'), { recursive: true });
  const store = await openStore({ folder, migrations: join(root, 'app/store/database/migrations') });
  const { engine, embedders }: Meaning = values.meaning ? meaning() : noEncoders;
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
  const { handlers } = documents;
  let [collection] = known ? await handlers['documents.collections'](undefined) : [];
  if (!collection) {
    collection = await handlers['documents.createCollection']({ name: 'Examination' });
    const added = files.map((file) => {
      if ('path' in file) return file;
      writeFileSync(join(folder, 'texts', file.name), file.text);
      return { name: file.name, path: join(folder, 'texts', file.name) };
    });
    await handlers['documents.add']({ collectionId: collection.id, files: added });
  }
  await documents.idle();
  for (const { fileName, state } of await handlers['documents.list']({ collectionId: collection.id })) {
    if (!JSON.stringify(state).includes('ready')) console.error(`${fileName}: ${JSON.stringify(state)}`);
  }
  async function close() {
    await documents.close();
    store.close();
    if ('close' in engine) await engine.close();
    if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return { documents, id: collection.id, close };
}

type Library = Awaited<ReturnType<typeof openLibrary>>;

async function ask({ documents }: Library, id: CollectionId, question: ExamQuestion): Promise<Made> {
  const { gold, text } = question;
  const { sure, candidates, statements } = await documents.answering.score(text, [id]);
  const [best] = candidates;
  const { hits } = await documents.handlers['documents.search']({ query: text, collectionIds: [id], limit: FOUND });
  const found = await Promise.all(hits.map((hit) => documents.handlers['documents.passage'](hit)));
  const names = new Map((await documents.handlers['documents.list']({ collectionId: id })).map((one) => [one.id, one]));
  const place = found.findIndex((one) => holds(gold, names.get(one.documentId)?.fileName ?? '', one.text));
  const quote = best?.passage.text.slice(...best.statement) ?? '';
  return {
    id: question.id,
    question: text,
    kinds: question.kinds,
    answerable: gold !== null,
    place: place < 0 ? null : place + 1,
    sure,
    score: best?.score ?? Number.NEGATIVE_INFINITY,
    right: best !== undefined && holds(gold, best.passage.fileName, best.passage.text),
    says: best !== undefined && says(gold, best.passage.fileName, quote),
    quote,
    from: best ? whereOf({ name: best.passage.fileName, location: locationOfPassage(best.passage) }) : '',
    statements: statements.map(({ passage, statement, features, score }) => ({
      passage: passage.number,
      text: passage.text.slice(...statement),
      features,
      score,
      says: says(gold, passage.fileName, passage.text.slice(...statement)),
      holds: holds(gold, passage.fileName, passage.text),
    })),
  };
}

const share = (some: readonly Made[], of: readonly Made[]): string => {
  const [low, high] = interval(some.length, of.length).map((one) => one.toFixed(2));
  return of.length === 0 ? 'none' : `${(some.length / of.length).toFixed(3)} (${low} to ${high})`;
};

function rowOf(name: string, made: readonly Made[]): string {
  const can = made.filter(({ answerable }) => answerable);
  const cannot = made.filter(({ answerable }) => !answerable);
  const answered = can.filter(({ sure }) => sure);
  const cells = [
    name,
    `${can.length} + ${cannot.length}`,
    share(
      can.filter(({ place }) => place !== null),
      can,
    ),
    share(answered, can),
    share(
      answered.filter(({ right }) => right),
      answered,
    ),
    share(
      answered.filter((one) => one.says),
      answered,
    ),
    share(
      cannot.filter(({ sure }) => !sure),
      cannot,
    ),
  ];
  return `| ${cells.join(' | ')} |`;
}

const exam = readExam(path, {
  documents: values.documents,
  half: values.half === 'a' || values.half === 'b' ? values.half : undefined,
  most: Number(values.most),
});
const library = await openLibrary(exam);
const made: Made[] = [];
for (const question of exam.questions) made.push(await ask(library, library.id, question));
await library.close();
if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(made));

const kinds = [...new Set(made.flatMap((one) => one.kinds))].sort();
const lines = [
  '| kind | questions | fact in the first five | answered | right of those | quote holds the fact | refused |',
  '|---|---|---|---|---|---|---|',
  rowOf('all', made),
  ...kinds.map((kind) =>
    rowOf(
      kind,
      made.filter((one) => one.kinds.includes(kind)),
    ),
  ),
];
process.stdout.write(`${lines.join('\n')}\n`);
