// What the reader is trained on: node resources/reader/train/candidates.ts OUT [SET ...]
// Asks the app the questions of texts/ (libraries of 24 documents, all or those named) and writes, a line of JSON for each
// question, the statements that it would give the reader, how likely it finds them without one, and which say the answer.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readable } from '../../../app/documents/answer/answer-scoring.ts';
import { openAsker } from '../../../test/bench/asking.ts';

const texts = join(import.meta.dirname, 'texts');
/** Statements of a question, the likeliest first; those that answer it besides. */
const LIKELIEST = 6;

const [out, ...sets] = process.argv.slice(2);
if (out === undefined) throw new Error('[candidates] say where to write: candidates.ts OUT [SET ...]');

const rows = (...path: string[]): string[][] =>
  readFileSync(join(texts, ...path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');

const asker = await openAsker(false);
let lines = '';
for (const set of sets.length > 0 ? sets : readdirSync(texts).sort()) {
  const shelf = join(texts, set, 'library');
  const library = Object.fromEntries(readdirSync(shelf).map((file) => [file, readFileSync(join(shelf, file), 'utf8')]));
  const questions = [
    ...rows(set, 'answerable.tsv').map(([, gold = '', question = '']) => ({ question, gold })),
    ...rows(set, 'unanswerable.tsv').map(([, question = '']) => ({ question, gold: null })),
  ];
  const asked = await asker.ask(
    library,
    questions.map(({ question }) => question),
  );
  for (const [at, { question, gold }] of questions.entries()) {
    const statements = (asked[at] ?? [])
      .toSorted((a, b) => b.score - a.score)
      .map((one) => ({
        text: readable(one),
        score: Number(one.score.toFixed(3)),
        says: gold !== null && flat(one.passage.text.slice(...one.statement)).includes(flat(gold)),
      }));
    const kept = statements.filter(({ says }, place) => place < LIKELIEST || says);
    lines += `${JSON.stringify({ question, answerable: gold !== null, statements: kept })}\n`;
  }
}
await asker.close();
writeFileSync(out, lines);
process.exit(0);
