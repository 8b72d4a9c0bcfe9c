// What the reader is trained on: node resources/reader/train/statements.ts OUT [--passages FILE …] [--documents FOLDER --questions FOLDER] [--half a|b]
// Without options: the libraries of texts/. --passages: passages with questions as SQuAD has them. --documents: files, with what is asked of
// each in QUESTIONS/NAME.tsv (the words that answer, or nothing, and the question).
// Reads all documents as the app does and writes, a line of JSON for each library or document, its statements as the app gives them to the
// reader, and for each question the statements that answer it and those it is about.
import {
  createWriteStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { contextOf } from '../../../app/documents/answer/answer-scoring.ts';
import { type Range, statementsOf } from '../../../app/documents/chunk/sentence-splitter.ts';
import { CELL_SEPARATOR } from '../../../app/documents/element.ts';
import { kindOf } from '../../../app/documents/import/file-types.ts';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createParserClient } from '../../../app/documents/parse/parser-client.ts';
import { titleOr } from '../../../app/documents/parse/title.ts';
import { answersIn } from '../../../app/documents/search/answer-candidates.ts';
import type { NewPassage, StoredPassage } from '../../../app/store/documents/chunks.ts';
import { halfOf } from '../../../test/support/documents/exam-sets.ts';

const root = resolve(import.meta.dirname, '../../..');
const texts = join(import.meta.dirname, 'texts');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    passages: { type: 'string', multiple: true, default: [] },
    documents: { type: 'string' },
    questions: { type: 'string' },
    half: { type: 'string' },
  },
});
const [out] = positionals;
if (out === undefined) throw new Error('[statements] say where to write: statements.ts OUT');

const reader = createParserClient({
  start: parserByFork({
    documentParser: join(root, 'app/documents/parse/parser-process.ts'),
    documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
  }),
});
const file = createWriteStream(out);
const folder = mkdtempSync(join(tmpdir(), 'longhand-statements-'));

type Statement = { read: string; said: string; document: string };
/** `gold`: words that answer it; `about`: the text it was asked of. Null: not known. */
type Question = { text: string; gold: string[] | null; document: string | null; about: string | null };

/** Characters of the context, and of the statement before, that are told. */
const TOLD_CONTEXT = 240;
const TOLD_BEFORE = 160;

/** A statement as it is read: what it stands under, the end of the statement before it, itself. `readable` of the app has to say
 *  the same once weights are taken that were trained on this; today's were trained on what it says now. */
function readable(passage: StoredPassage, statement: Range): string {
  const { text } = passage;
  const context = contextOf(passage, statement).join(', ').slice(0, TOLD_CONTEXT);
  return `${context}: ${before(text, statement)}${text.slice(...statement)}`;
}

/** The end of the statement before another of the same passage; rows of a table stand alone. */
function before(text: string, [start, end]: Range): string {
  if (text.slice(start, end).includes(CELL_SEPARATOR)) return '';
  const previous = statementsOf(text.slice(0, start)).at(-1);
  if (!previous) return '';
  const said = text.slice(...previous);
  return `${said.slice(said.length <= TOLD_BEFORE ? 0 : said.indexOf(' ', said.length - TOLD_BEFORE) + 1)} » `;
}

const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ').trim();

async function statementsIn(path: string, fileName: string): Promise<Statement[]> {
  const passages: NewPassage[] = [];
  const source = { path, fileName, bytes: statSync(path).size, password: null, ocr: false };
  const batch = (more: { passages: NewPassage[] }) => void passages.push(...more.passages);
  const told = { batch, progress: () => {} };
  const { metadata } = await reader.read(source, kindOf(fileName) ?? 'text', told, new AbortController().signal);
  const name = titleOr(fileName, metadata.title);
  return passages.flatMap((one) => {
    const passage = { ...one, name } as unknown as StoredPassage;
    return answersIn(one.text, one.overlap).map((statement: Range) => ({
      read: readable(passage, statement),
      said: one.text.slice(...statement),
      document: fileName,
    }));
  });
}

function write(name: string, statements: readonly Statement[], questions: readonly Question[]) {
  const said = statements.map((one) => flat(one.said));
  const asked = questions.map(({ text, gold, document, about }) => {
    const [golds, near] = [gold?.map(flat) ?? [], about === null ? null : flat(about)];
    const of = (at: number) => document === null || statements[at]?.document === document;
    const places = [...said.keys()].filter((at) => of(at) && (near === null || near.includes(said[at] ?? '')));
    return {
      question: text,
      answerable: gold !== null,
      says: places.filter((at) => golds.some((words) => said[at]?.includes(words))),
      about: about === null ? [] : places,
    };
  });
  const lost = asked.filter(({ answerable, says }) => answerable && says.length === 0);
  for (const { question } of lost.slice(0, values.documents === undefined ? 0 : 100))
    console.error(`${name}: ${question}`);
  process.stdout.write(
    `${name}: ${statements.length} statements, ${asked.length} questions, ${lost.length} not found\n`,
  );
  file.write(`${JSON.stringify({ name, statements: statements.map(({ read }) => read), questions: asked })}\n`);
}

const rows = (...path: string[]): string[][] =>
  readFileSync(join(...path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));

async function writeLibrary(set: string) {
  const shelf = join(texts, set, 'library');
  const statements: Statement[] = [];
  for (const name of readdirSync(shelf).sort()) statements.push(...(await statementsIn(join(shelf, name), name)));
  const answerable = rows(texts, set, 'answerable.tsv').map(([document = '', gold = '', text = '']) => ({
    ...{ text, gold: [gold], document: document === '' ? null : `${document}.md`, about: null },
  }));
  const not = rows(texts, set, 'unanswerable.tsv').map(([, text = '']) => ({
    ...{ text, gold: null, document: null, about: null },
  }));
  write(set, statements, [...answerable, ...not]);
}

type Line = { title: string; passage: string; questions: { q: string; answers: [string, number][] }[] };

async function writePassages(path: string) {
  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ title }) => values.half === undefined || halfOf(title) === values.half);
  for (const [title, passages] of Map.groupBy(lines, (line) => line.title)) {
    const name = `${title.replace(/[^\p{L}\p{N}]+/gu, '_')}.md`;
    const text = [`# ${title.replaceAll('_', ' ')}`, ...passages.map(({ passage }) => passage)].join('\n\n');
    writeFileSync(join(folder, name), text);
    const questions = passages.flatMap(({ passage, questions }) =>
      questions.map(({ q, answers }) => ({
        text: q,
        gold: answers.length > 0 ? answers.map(([words]) => words) : null,
        ...{ document: name, about: passage },
      })),
    );
    write(title, await statementsIn(join(folder, name), name), questions);
  }
}

async function writeDocuments(documents: string, questions: string) {
  for (const name of readdirSync(documents).sort()) {
    const list = join(questions, `${name}.tsv`);
    const asked = existsSync(list) ? rows(list) : [];
    const of = asked.map(([gold = '', text = '']) => ({
      ...{ text, gold: gold === '' ? null : [gold], document: null, about: null },
    }));
    write(name, await statementsIn(join(documents, name), name), of);
  }
}

if (values.documents !== undefined) await writeDocuments(values.documents, values.questions ?? '');
for (const path of values.passages) await writePassages(path);
if (values.documents === undefined && values.passages.length === 0) {
  for (const set of readdirSync(texts).sort()) await writeLibrary(set);
}
await reader.close();
rmSync(folder, { recursive: true });
await new Promise<void>((done) => file.end(() => done()));
