import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import { abortFlag } from '../../engine/process/addon.ts';
import { LonghandError, type QualityResult, type QualitySubject, type ResultOf } from '../../protocol/index.ts';
import { readQuestions } from '../choices.ts';
import { readTextQuestions } from '../reading.ts';
import { type Reference, readReference, writeReference } from '../reference-file.ts';
import { printOf } from './parts.ts';
import { choicesFrom, needlesFrom, readingFrom, reasoningFrom } from './questions.ts';
import { type Subject, type Surroundings, withSubject } from './subject.ts';
import { cut, divergenceFrom, perplexityFrom, referenceFrom, USUAL_WINDOW } from './texts.ts';

/** A model on this computer, and where it is to run. */
export type Opens = { path: string; device: string | null; threads: number | null };

/** `folder`: where the predictions of a model are kept, for the next comparison with it. */
export type ComparedWith =
  | { from: 'model'; opens: Opens; name: string; folder: string }
  | { from: 'file'; path: string };

export type Evaluation = {
  model: Opens;
  test: QualitySubject;
  /** The text or the questions; null: pages of the manual. */
  material: string | null;
  /** For a divergence. */
  reference: ComparedWith | null;
};

/** `manual`: pages that no model was calibrated on. */
export type Tools = Surroundings & { readonly manual: () => string };

export const textOf = ({ manual }: Tools, { material }: Evaluation): string => material ?? manual();

/** @throws LonghandError for a model or a file that cannot be opened, and a test that does not fit the model */
export function evaluate(tools: Tools, evaluation: Evaluation): Promise<QualityResult> {
  const { model, test, material } = evaluation;
  const withModel = <T>(work: (subject: Subject) => Promise<T>) => opened(tools, model, sessionTokensOf(test), work);
  switch (test.kind) {
    case 'perplexity': {
      const written = textOf(tools, evaluation);
      return withModel((subject) => perplexityFrom(subject, cut(subject, written, test), written));
    }
    case 'divergence':
      return divergence(tools, evaluation, test);
    case 'choices': {
      const questions = readQuestions(material ?? '');
      return withModel((subject) => choicesFrom(subject, questions));
    }
    case 'reading': {
      const questions = readTextQuestions(material ?? '');
      return withModel((subject) => readingFrom(subject, questions, test));
    }
    case 'needle':
      return withModel((subject) => needlesFrom(subject, test));
    case 'reasoning':
      return withModel((subject) => reasoningFrom(subject, test));
  }
}

async function divergence(
  tools: Tools,
  evaluation: Evaluation,
  test: Extract<QualitySubject, { kind: 'divergence' }>,
): Promise<ResultOf<'divergence'>> {
  const written = textOf(tools, evaluation);
  const { model, reference: other } = evaluation;
  if (!other) throw new LonghandError('bad-request', '[eval] a divergence needs a reference');
  const reference = (await keptReference(tools, evaluation)) ?? (await take(other));
  return opened(tools, model, USUAL_WINDOW, (subject) =>
    divergenceFrom(subject, cut(subject, written, test), reference),
  );

  async function take(from: ComparedWith): Promise<Reference> {
    if (from.from === 'file') return readReference(from.path);
    const taken = await opened(tools, from.opens, USUAL_WINDOW, (subject) =>
      referenceFrom(subject, cut(subject, written, test), from.name),
    );
    await writeReference(await referencePath(from, written, test.limit), taken);
    return taken;
  }
}

/** The predictions of the other model, if an earlier comparison on this text took them; null for none, and for damaged ones. */
export async function keptReference(tools: Tools, evaluation: Evaluation): Promise<Reference | null> {
  const { reference, test } = evaluation;
  if (reference?.from !== 'model' || test.kind !== 'divergence') return null;
  const path = await referencePath(reference, textOf(tools, evaluation), test.limit);
  return readReference(path).catch(() => null);
}

const referencePath = async (
  { opens, folder }: Extract<ComparedWith, { from: 'model' }>,
  written: string,
  limit: number | null,
): Promise<string> => join(folder, `${printOf(await filesOf(opens.path), written, limit)}.reference`);

/** What tells one state of a model's files from another. */
export async function filesOf(path: string): Promise<(string | number)[][]> {
  const at = await stat(path);
  if (at.isFile()) return [[path, at.size, at.mtimeMs]];
  const names = (await readdir(path)).filter((name) => /\.(safetensors|gguf|json|jinja)$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(path, name));
      return [name, size, mtimeMs];
    }),
  );
}

/** Tokens beside a text, a question or an answer: the template, and what a text is longer than it was to be. */
const BESIDE = 512;

/** Questions come with examples, which can be long. */
const QUESTION = 8192;

/** The context that a test needs. */
export function sessionTokensOf(test: QualitySubject): number {
  if (test.kind === 'needle') return Math.max(...test.lengths) + BESIDE;
  if (test.kind === 'reasoning') return test.maxTokens + BESIDE;
  if (test.kind === 'reading') return test.longest + test.maxTokens + BESIDE;
  return test.kind === 'choices' ? QUESTION : USUAL_WINDOW;
}

/** Loads a model for some work, and closes it. */
export async function opened<T>(
  tools: Surroundings,
  { path, device, threads }: Opens,
  tokens: number,
  work: (subject: Subject) => Promise<T>,
): Promise<T> {
  const { addon, signal } = tools;
  const { flag, release } = abortFlag(addon, signal);
  const { show, end } = tools.progress('loading');
  let native: Addon.Model;
  try {
    native = await addon.load(path, {
      ...(device !== null && { device }),
      ...(threads !== null && { threads }),
      signal: flag,
      onProgress: show,
    });
  } finally {
    release();
    end();
  }
  try {
    return await withSubject(tools, { native, path, sessionTokens: Math.min(tokens, native.contextLength) }, work);
  } finally {
    native.close();
  }
}
