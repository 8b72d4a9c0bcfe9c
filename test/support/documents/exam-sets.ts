import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

//  Examinations from outside the project, in two forms: a folder with `questions.json` and the documents it asks about, or lines
//  of `{title, passage, questions: [{q, answers: [[text, start], …]}]}` as SQuAD has them.

/** Where a fact is: in a document, in one of these wordings, near this text. */
export type Gold = { documents: readonly string[]; facts: readonly string[]; near: string | null };
/** `gold` is null if nothing answers the question. `kinds` groups the figures. */
export type ExamQuestion = { id: string; text: string; gold: Gold | null; kinds: readonly string[] };
/** `files`: paths or texts, by the name they are added under. */
export type Exam = { files: readonly ExamFile[]; questions: readonly ExamQuestion[] };
export type ExamFile = { name: string; path: string } | { name: string; text: string };

export type Choice = {
  /** The folder of the documents, if not `documents`. */
  documents?: string | undefined;
  /** One half of the articles, by the hash of their titles: tune on one, report on the other. */
  half?: 'a' | 'b' | undefined;
  /** The most questions, taken evenly. */
  most: number;
};

export function readExam(path: string, choice: Choice): Exam {
  const exam = path.endsWith('.jsonl') ? readLines(path, choice) : readFolder(path, choice);
  const step = Math.max(1, exam.questions.length / choice.most);
  return { ...exam, questions: exam.questions.filter((_, at) => Math.floor(at % step) === 0) };
}

type Listed = { id: string; q: string; gold?: { doc: string }[]; facts?: string[]; tags?: string[]; lang?: string };

function readFolder(path: string, { documents = join(path, 'documents') }: Choice): Exam {
  const { answerable, unanswerable } = JSON.parse(readFileSync(join(path, 'questions.json'), 'utf8')) as {
    answerable: Listed[];
    unanswerable: Listed[];
  };
  if (!existsSync(documents)) throw new Error(`[exam] no documents in ${documents}; --documents says where they are`);
  return {
    files: readdirSync(documents)
      .sort()
      .map((name) => ({ name, path: join(documents, name) })),
    questions: [...answerable, ...unanswerable].map(({ id, q, gold, facts, tags = [], lang }) => ({
      id,
      text: q,
      gold: gold && facts ? { documents: gold.map(({ doc }) => doc), facts, near: null } : null,
      kinds: lang ? [...tags, lang] : tags,
    })),
  };
}

type Line = { title: string; passage: string; questions: { q: string; answers: [string, number][] }[] };

/** Characters of context on either side of an answer that identify its place. */
const NEAR = 12;

function readLines(path: string, { half }: Choice): Exam {
  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ title }) => half === undefined || halfOf(title) === half);
  const articles = Map.groupBy(lines, ({ title }) => title);
  const nameOf = (title: string) => `${title.replace(/[^\p{L}\p{N}]+/gu, '_')}.md`;
  return {
    files: [...articles].map(([title, passages]) => ({
      name: nameOf(title),
      text: [`# ${title.replaceAll('_', ' ')}`, ...passages.map(({ passage }) => passage)].join('\n\n'),
    })),
    questions: lines.flatMap(({ title, passage, questions }, line) =>
      questions.map(({ q, answers }, at) => ({
        id: `${basename(path, '.jsonl')}:${line}:${at}`,
        text: q,
        gold: answers.length === 0 ? null : goldOf(nameOf(title), passage, answers),
        kinds: [],
      })),
    ),
  };
}

const goldOf = (document: string, passage: string, answers: readonly [string, number][]): Gold => ({
  documents: [document],
  facts: answers.map(([text, start]) => passage.slice(Math.max(0, start - NEAR), start + text.length + NEAR)),
  near: passage,
});

export const halfOf = (title: string): 'a' | 'b' =>
  (createHash('sha256').update(title).digest()[0] ?? 0) % 2 === 0 ? 'a' : 'b';

const oneLine = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

/** Whether words of a document contain the fact. */
export function holds(gold: Gold | null, document: string, text: string): boolean {
  if (!gold?.documents.includes(document)) return false;
  const said = oneLine(text);
  return gold.facts.some((fact) => said.includes(oneLine(fact)));
}

/** Whether a sentence does: it need not contain the words around an answer, but must be in the passage. */
export function says(gold: Gold | null, document: string, sentence: string): boolean {
  if (!gold?.documents.includes(document)) return false;
  if (gold.near === null) return holds(gold, document, sentence);
  const said = oneLine(sentence);
  const bare = gold.facts.map((fact) => oneLine(fact.slice(NEAR, -NEAR || undefined)));
  return oneLine(gold.near).includes(said) && bare.some((fact) => fact !== '' && said.includes(fact));
}

/** The 95 % Wilson interval of a share. */
export function interval(count: number, of: number): [number, number] {
  if (of === 0) return [0, 1];
  const z2 = 1.96 ** 2;
  const middle = (count / of + z2 / (2 * of)) / (1 + z2 / of);
  const reach = (1.96 / (1 + z2 / of)) * Math.sqrt((count / of) * (1 - count / of) * (1 / of) + z2 / (4 * of * of));
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}
