import { type Answer, recommendedSampling, singleAnswer } from '../../engine/process/generation/single-answer.ts';
import {
  around,
  average,
  figureOf,
  LonghandError,
  type ReadingMetric,
  type ResultOf,
  shareOf,
} from '../../protocol/index.ts';
import { promptOf } from '../../text/chat-template.ts';
import { createTemplateRenderer } from '../../text/jinja/template-renderer.ts';
import type { Sensitivity } from '../../text/loop/levels.ts';
import type { ModelText } from '../../text/model-text.ts';
import { askChoices, type Question } from '../choices.ts';
import { type Needle, needleIn } from '../needle.ts';
import { overlapOf } from '../overlap.ts';
import type { TextQuestion } from '../reading.ts';
import { outcomeOf, type Problem, problemsOf, reportOf } from '../reasoning.ts';
import { type Subject, showing } from './subject.ts';
import { promptFor } from './text-prompts.ts';

/** Multiple choice by log-likelihood. */
export async function choicesFrom(subject: Subject, questions: readonly Question[]): Promise<ResultOf<'choices'>> {
  const { text, score, step } = subject;
  const encode = (written: string) => [...text.before, ...text.tokenizer.encodeText(written)];
  const found = await showing(subject, 'asking', questions.length, (show) =>
    askChoices(score, encode, questions, show, step),
  );
  const { answers } = found;
  return {
    kind: 'choices',
    accuracy: figureOf(found.accuracy),
    normalised: figureOf(found.normalised),
    questions: found.questions,
    answers,
  };
}

/** `longest`: tokens of a prompt. */
export type Reading = { readonly metric: ReadingMetric; readonly longest: number; readonly maxTokens: number };

/** Tokens of the template around a prompt, at most. */
const AROUND = 256;

/** Each question as it is asked, in the context that the model has. */
export const promptsFor = (
  { native, text, context }: Subject,
  questions: readonly TextQuestion[],
  { longest, maxTokens }: Reading,
) => {
  const room = (context.contextLength ?? native.contextLength) - maxTokens - AROUND;
  return questions.map((question) => promptFor(question, Math.min(longest, room), text.tokenizer));
};

/** Questions about texts: how much of a right answer is in what the model writes. */
export async function readingFrom(
  subject: Subject,
  questions: readonly TextQuestion[],
  reading: Reading,
): Promise<ResultOf<'reading'>> {
  const { metric, maxTokens } = reading;
  const prompts = promptsFor(subject, questions, reading);
  const asked = questions.map((question, at) => ({ question, prompt: prompts[at]?.prompt ?? '' }));
  const answers = await asking(subject, asked, maxTokens, 'off', async (ask, { question, prompt }) => {
    const { text: said } = await ask(prompt, false);
    return { score: overlapOf(metric, said, question.answers, question.all_classes ?? null), said };
  });
  const scores = answers.map(({ score }) => score);
  return {
    kind: 'reading',
    metric,
    score: figureOf(around(average(scores), scores)),
    questions: answers.length,
    shortened: prompts.filter(({ shortened }) => shortened).length,
    answers,
  };
}

/** Lengths in tokens, depths in percent. */
export type Needles = {
  readonly lengths: readonly number[];
  readonly depths: readonly number[];
  readonly seed: number;
};

export type HiddenNeedle = { length: number; depth: number; needle: Needle };

/** One text for every length and depth. */
export const needlesFor = ({ text }: Pick<Subject, 'text'>, { lengths, depths, seed }: Needles): HiddenNeedle[] =>
  lengths.flatMap((length, row) =>
    depths.map((depth, column) => {
      const own = seed * 1009 + row * depths.length + column;
      const needle = needleIn(length, depth / 100, own, (written) => text.tokenizer.encodeText(written).length);
      return { length, depth, needle };
    }),
  );

/** What a needle is answered with. */
export const NEEDLE_TOKENS = 48;

/** The prompt of a needle. */
export const askedOf = ({ text, question }: Needle): string => `${text}\n\n${question}`;

export async function needlesFrom(subject: Subject, needles: Needles): Promise<ResultOf<'needle'>> {
  const hidden = needlesFor(subject, needles);
  const texts = await asking(subject, hidden, NEEDLE_TOKENS, 'off', async (ask, { length, depth, needle }) => {
    const said = await ask(askedOf(needle), false);
    return { length, depth, found: said.text.includes(needle.answer), said: said.text };
  });
  const found = shareOf(texts.filter((one) => one.found).length, texts.length);
  return { kind: 'needle', found: figureOf(found), texts };
}

export type Problems = { readonly problems: number; readonly maxTokens: number; readonly seed: number };

export async function reasoningFrom(
  subject: Subject,
  { problems: each, maxTokens, seed }: Problems,
): Promise<ResultOf<'reasoning'>> {
  const problems: readonly Problem[] = problemsOf(seed, each);
  const attempts = await asking(subject, problems, maxTokens, 'balanced', async (ask, problem) => {
    const { text, finish } = await ask(problem.question, null);
    return { problem, outcome: outcomeOf(problem, text, finish), said: text };
  });
  const { kinds, right, answered, looped } = reportOf(attempts);
  return {
    kind: 'reasoning',
    right: figureOf(right),
    answered: figureOf(answered),
    looped: figureOf(looped),
    kinds,
    attempts: attempts.map(({ problem, ...attempt }) => ({ ...problem, ...attempt })),
  };
}

/** @throws LonghandError `template-failed` for a model that was not made to be asked */
export function needTemplate({ template }: ModelText): string {
  if (template !== null) return template;
  throw new LonghandError('template-failed', '[eval] questions need a chat template, and the model has none', {
    details: { reason: 'quality-no-template' },
  });
}

type Said = Omit<Answer, 'finish'> & { finish: Exclude<Answer['finish'], 'cancelled'> };
/** `thinking`: null leaves it to the model. */
type Ask = (content: string, thinking: boolean | null) => Promise<Said>;

/** One session, asked about each of `items` with greedy decoding. */
async function asking<Item, Found>(
  subject: Subject,
  items: readonly Item[],
  maxTokens: number,
  loopGuard: Sensitivity,
  work: (ask: Ask, item: Item) => Promise<Found>,
): Promise<Found[]> {
  const { addon, native, text, precision, signal, step } = subject;
  const template = needTemplate(text);
  const renderer = createTemplateRenderer({ worker: subject.worker });
  const session = native.createSession({ ...subject.context, ...(precision && { path: precision }) });
  const sampling = { ...recommendedSampling(native, text), temperature: 0, seed: 1 };
  const ask: Ask = async (content, thinking) => {
    const messages = [{ role: 'user' as const, content }];
    const { ids, inThinking } = await promptOf({ ...text, template }, renderer, { messages, thinking });
    const reading = subject.progress('prompt');
    const said = await singleAnswer({
      addon,
      text,
      session,
      prompt: ids,
      inThinking,
      sampling,
      maxTokens,
      loopGuard,
      path: precision,
      signal,
      onPrefill: reading.show,
      onTokens: reading.end,
      ...(subject.pause && { pause: subject.pause }),
    }).finally(reading.end);
    if (said.finish === 'cancelled') throw new LonghandError('cancelled', '[eval] stopped');
    return { ...said, finish: said.finish };
  };
  try {
    return await showing(subject, 'asking', items.length, async (show) => {
      const found: Found[] = [];
      for (const [at, item] of items.entries()) {
        found.push(await step(`item ${at}`, () => work(ask, item)));
        show(at + 1);
      }
      return found;
    });
  } finally {
    session.close();
    await renderer.close();
  }
}
