import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

//  Questions with the fact that answers them, questions that nothing answers, and the documents: sixteen that were written for
//  this set, and the manuals of packages of the lock file, where nothing is asked about and everything may be confused.

const folder = import.meta.dirname;
const root = join(folder, '../../../..');

/** Odd ones are tuned on, even ones report. */
export type Half = 'tuning' | 'report';
const halfOf = (line: number): Half => (line % 2 === 0 ? 'tuning' : 'report');

/** `gold`: words of the document that say it. */
export type Answerable = { question: string; document: string; gold: string; half: Half };
/** `far`: of something else altogether. `near`: of what a document is about, without saying it. */
export type Unanswerable = { question: string; distance: 'near' | 'far'; half: Half };

const rows = (name: string): string[][] =>
  readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));

export const answerable: Answerable[] = rows('answerable.tsv').map(
  ([document = '', gold = '', question = ''], line) => ({
    question,
    document: `${document}.md`,
    gold,
    half: halfOf(line),
  }),
);

export const unanswerable: Unanswerable[] = rows('unanswerable.tsv').map(([distance, question = ''], line) => ({
  question,
  distance: distance as Unanswerable['distance'],
  half: halfOf(line),
}));

export const library: Record<string, string> = Object.fromEntries(
  readdirSync(join(folder, 'library')).map((name) => [name, readFileSync(join(folder, 'library', name), 'utf8')]),
);

const MANUALS =
  `zod hono ws fast-check vitest katex shiki i18next pdfjs-dist fflate zustand semver debug acorn cmdk uplot virtua
  react-markdown cmake-js electron-builder`.split(/\s+/);
const MOST_CHARACTERS = 6000;

export const manuals: Record<string, string> = Object.fromEntries(
  MANUALS.flatMap((name) => {
    const path = join(root, 'node_modules', name, 'README.md');
    return existsSync(path) ? [[`${name}.md`, readFileSync(path, 'utf8').slice(0, MOST_CHARACTERS)]] : [];
  }),
);
