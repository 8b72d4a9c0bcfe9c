import type { QualityPlan } from '../../protocol/index.ts';
import { readQuestions } from '../choices.ts';
import { readTextQuestions } from '../reading.ts';
import { readReference, TOP, textHash } from '../reference-file.ts';
import type { Window } from '../windows.ts';
import { type Evaluation, keptReference, opened, sessionTokensOf, type Tools, textOf } from './evaluate.ts';
import { askedOf, NEEDLE_TOKENS, needlesFor, needTemplate, promptsFor } from './questions.ts';
import type { Subject } from './subject.ts';
import { cut, needSameText } from './texts.ts';

//  What an evaluation will take: a small part of it is done with the model itself, and timed.

/** Tokens that are read and written to find out how fast. */
const READ = 192;
const WRITTEN = 8;
const WARM = 16;
/** Of a problem of the reasoning test. */
const PROBLEM = 128;

type Work = { parts: number; reads: number; writes: number; pieces: string | null };

/** `pieces`: hash of the tokens that a text is cut into. */
type Measured = { plan: QualityPlan; pieces: string | null };

/** @throws LonghandError as the evaluation would, before it has done anything */
export async function forecast(tools: Tools, evaluation: Evaluation): Promise<QualityPlan> {
  const { plan, pieces } = await measured(tools, evaluation.model, evaluation);
  const { reference } = evaluation;
  if (!reference) return plan;
  const kept = reference.from === 'file' ? await readReference(reference.path) : await keptReference(tools, evaluation);
  if (kept) needSameText(kept.text, pieces, kept.model);
  if (kept || reference.from === 'file') return plan;
  const other = await measured(tools, reference.opens, evaluation);
  needSameText(other.pieces, pieces, reference.name);
  return {
    ...plan,
    reads: plan.reads + other.plan.reads,
    seconds: plan.seconds + other.plan.seconds,
    memoryBytes: Math.max(plan.memoryBytes, other.plan.memoryBytes),
  };
}

async function measured(tools: Tools, opens: Evaluation['model'], evaluation: Evaluation): Promise<Measured> {
  const tokens = sessionTokensOf(evaluation.test);
  const began = performance.now();
  return opened(tools, opens, tokens, async (subject) => {
    const loading = (performance.now() - began) / 1000;
    const { pieces, ...work } = workOf(tools, subject, evaluation);
    const reading = work.reads * (await secondsToRead(subject));
    const writing = work.writes === 0 ? 0 : work.writes * (await secondsToWrite(subject));
    const { total } = subject.native.memoryPlan({ contextLength: Math.min(tokens, subject.native.contextLength) });
    return { plan: { ...work, seconds: loading + reading + writing, memoryBytes: total }, pieces };
  });
}

function workOf(tools: Tools, subject: Subject, evaluation: Evaluation): Work {
  const { test, material } = evaluation;
  const count = (written: string) => subject.text.before.length + subject.text.tokenizer.encodeText(written).length;
  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);
  switch (test.kind) {
    case 'perplexity':
    case 'divergence': {
      const windows = cut(subject, textOf(tools, evaluation), test);
      return { parts: windows.length, reads: readIn(windows), writes: 0, pieces: textHash(windows) };
    }
    case 'choices': {
      const questions = readQuestions(material ?? '');
      const reads = questions.flatMap(({ question, choices }) => choices.map((one) => count(`${question} ${one}`)));
      return { parts: questions.length, reads: sum(reads), writes: 0, pieces: null };
    }
    case 'reading': {
      needTemplate(subject.text);
      const prompts = promptsFor(subject, readTextQuestions(material ?? ''), test);
      const reads = sum(prompts.map(({ prompt }) => count(prompt)));
      return { parts: prompts.length, reads, writes: prompts.length * test.maxTokens, pieces: null };
    }
    case 'needle': {
      needTemplate(subject.text);
      const hidden = needlesFor(subject, test);
      const reads = sum(hidden.map(({ needle }) => count(askedOf(needle))));
      return { parts: hidden.length, reads, writes: hidden.length * NEEDLE_TOKENS, pieces: null };
    }
    case 'reasoning': {
      needTemplate(subject.text);
      const parts = 5 * test.problems;
      return { parts, reads: parts * PROBLEM, writes: parts * test.maxTokens, pieces: null };
    }
  }
}

const readIn = (windows: readonly Window[]): number => windows.reduce((all, { tokens }) => all + tokens.length, 0);

/** Any tokens cost the same. */
const someTokens = (count: number, { native }: Subject): Int32Array =>
  Int32Array.from({ length: count }, (_, at) => (at * 31 + 7) % native.vocabularySize);

async function secondsToRead(subject: Subject): Promise<number> {
  const { score, native } = subject;
  const count = Math.min(READ, native.contextLength);
  const top = Math.min(TOP, native.vocabularySize);
  await score(someTokens(Math.min(WARM, count), subject), { from: 1, top });
  const began = performance.now();
  await score(someTokens(count, subject), { from: 1, top });
  return (performance.now() - began) / 1000 / count;
}

async function secondsToWrite(subject: Subject): Promise<number> {
  const session = subject.native.createSession(subject.context);
  try {
    const { timings } = await session.generate(someTokens(WARM, subject), {
      maxTokens: WRITTEN,
      temperature: 0,
      stopTokens: [],
    });
    return timings.decodeMs / 1000 / (WRITTEN - 1);
  } finally {
    session.close();
  }
}
