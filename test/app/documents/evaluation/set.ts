import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

//  Questions with the fact that answers them, questions that nothing answers, and the documents that were written for them:
//  one set to tune on and another, about other things, to report. Beside both stand the manuals of packages of the lock file,
//  where nothing is asked about and everything may be confused.

const folder = import.meta.dirname;
const root = join(folder, '../../../..');

/** `gold`: words of the document that say it. */
export type Answerable = { question: string; document: string; gold: string };
/** `far`: of something else altogether. `near`: of what a document is about, without saying it. */
export type Unanswerable = { question: string; distance: 'near' | 'far' };

export type QuestionSet = {
  /** Text by file name. */
  library: Record<string, string>;
  answerable: readonly Answerable[];
  unanswerable: readonly Unanswerable[];
};

const rows = (...path: string[]): string[][] =>
  readFileSync(join(folder, ...path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));

function readSet(name: string): QuestionSet {
  const shelf = join(folder, name, 'library');
  return {
    library: Object.fromEntries(readdirSync(shelf).map((file) => [file, readFileSync(join(shelf, file), 'utf8')])),
    answerable: rows(name, 'answerable.tsv').map(([document = '', gold = '', question = '']) => ({
      question,
      document: `${document}.md`,
      gold,
    })),
    unanswerable: rows(name, 'unanswerable.tsv').map(([distance, question = '']) => ({
      question,
      distance: distance as Unanswerable['distance'],
    })),
  };
}

export const tuning = readSet('tuning');
export const report = readSet('report');

const MANUALS =
  `zod hono ws fast-check vitest katex shiki i18next pdfjs-dist fflate zustand semver debug acorn cmdk uplot virtua
  react-markdown cmake-js electron-builder`.split(/\s+/);
const MAX_CHARACTERS = 6000;

export const manuals: Record<string, string> = Object.fromEntries(
  MANUALS.flatMap((name) => {
    const path = join(root, 'node_modules', name, 'README.md');
    return existsSync(path) ? [[`${name}.md`, readFileSync(path, 'utf8').slice(0, MAX_CHARACTERS)]] : [];
  }),
);
