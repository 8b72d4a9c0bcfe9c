// What the reader is trained on: node resources/reader/train/candidates.ts OUT [--sets a,b] [--passages FILE] [--half a|b] [--most N]
// Asks the app the questions of texts/ (libraries of 24 documents, all or those named), or those of a file of passages with
// questions as SQuAD has them, and writes, a line of JSON for each question, the statements that it would give the reader, how
// likely it finds them without one, and which say the answer.
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readable } from '../../../app/documents/answer/answer-scoring.ts';
import type { Scored } from '../../../app/documents/answer/scored-statement.ts';
import { openAsker } from '../../../test/bench/documents/asking.ts';
import { readExam, says } from '../../../test/support/documents/exam-sets.ts';

const texts = join(import.meta.dirname, 'texts');
/** Statements of a question, the likeliest first; those that answer it besides. */
const LIKELIEST = 6;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sets: { type: 'string' },
    passages: { type: 'string' },
    half: { type: 'string' },
    most: { type: 'string', default: '100000' },
  },
});
const [out] = positionals;
if (out === undefined) throw new Error('[candidates] say where to write: candidates.ts OUT');

type Asked = { question: string; answerable: boolean; says(statement: Scored): boolean };
type Library = { files: Record<string, string>; questions: Asked[] };

const rows = (...path: string[]): string[][] =>
  readFileSync(join(texts, ...path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');
const textOf = ({ passage, statement }: Scored) => passage.text.slice(...statement);

function ownLibrary(set: string): Library {
  const shelf = join(texts, set, 'library');
  const none = { answerable: false, says: () => false };
  return {
    files: Object.fromEntries(readdirSync(shelf).map((file) => [file, readFileSync(join(shelf, file), 'utf8')])),
    questions: [
      ...rows(set, 'answerable.tsv').map(([, gold = '', question = '']) => ({
        question,
        answerable: true,
        says: (one: Scored) => flat(textOf(one)).includes(flat(gold)),
      })),
      ...rows(set, 'unanswerable.tsv').map(([, question = '']) => ({ question, ...none })),
    ],
  };
}

function libraryOfPassages(path: string): Library {
  const half = values.half === 'a' || values.half === 'b' ? values.half : undefined;
  const { files, questions } = readExam(path, { half, most: Number(values.most) });
  return {
    files: Object.fromEntries(files.map((file) => [file.name, 'text' in file ? file.text : ''])),
    questions: questions.map(({ text, gold }) => ({
      question: text,
      answerable: gold !== null,
      says: (one) => says(gold, one.passage.fileName, textOf(one)),
    })),
  };
}

const libraries =
  values.passages === undefined
    ? (values.sets?.split(',') ?? readdirSync(texts).sort()).map(ownLibrary)
    : [libraryOfPassages(values.passages)];

const asker = await openAsker(false);
const file = createWriteStream(out);
for (const { files, questions } of libraries) {
  let at = 0;
  await asker.ask(
    files,
    questions.map(({ question }) => question),
    (found) => {
      const { question, answerable, says: saysIt } = questions[at++] as Asked;
      const statements = found
        .toSorted((a, b) => b.score - a.score)
        .map((one) => ({ text: readable(one), score: Number(one.score.toFixed(3)), says: saysIt(one) }));
      const chosen = statements.filter(({ says: right }, place) => place < LIKELIEST || right);
      file.write(`${JSON.stringify({ question, answerable, statements: chosen })}\n`);
    },
  );
}
await asker.close();
await new Promise((done) => file.end(done));
process.exit(0);
