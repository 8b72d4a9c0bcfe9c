import { z } from 'zod';
import { type Estimate, LonghandError, shareOf } from '../protocol/index.ts';
import type { Scorer } from './scorer.ts';
import { type Step, straight } from './step.ts';

/** A question with its choices, one JSON line each, as in ARC and HellaSwag. */
const Line = z
  .object({
    question: z.string().min(1),
    choices: z.array(z.string().min(1)).min(2).max(26),
    /** Index of the correct one, from 0. */
    answer: z.number().int().nonnegative(),
  })
  .refine(({ choices, answer }) => answer < choices.length, { message: 'answer points past the choices' });
export type Question = z.infer<typeof Line>;

export type Choices = {
  /** Accuracy by total log-likelihood. */
  accuracy: Estimate;
  /** Accuracy by log-likelihood per byte, so that long answers are not at a disadvantage. */
  normalised: Estimate;
  questions: number;
  /** Of each question, whether its answer was right. */
  answers: { right: boolean; normalised: boolean }[];
};

/** @throws LonghandError `bad-request` naming the line */
export function readQuestions(text: string): Question[] {
  const lines = text.split('\n').map((line, at) => [line, at + 1] as const);
  const questions = lines
    .filter(([line]) => line.trim() !== '')
    .map(([line, number]) => {
      try {
        return Line.parse(JSON.parse(line));
      } catch (error) {
        const why =
          error instanceof z.ZodError
            ? error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join(', ')
            : 'not JSON';
        throw new LonghandError(
          'bad-request',
          `[eval] line ${number}: ${why}; a line is {"question": TEXT, "choices": [TEXT, …], "answer": INDEX}`,
          { details: { reason: 'quality-questions', line: number } },
        );
      }
    });
  if (questions.length === 0) {
    throw new LonghandError('bad-request', '[eval] the file contains no question', {
      details: { reason: 'quality-no-question' },
    });
  }
  return questions;
}

/** Which answer a model finds likeliest after each question, by the sum of its tokens' log-probabilities. */
export async function askChoices(
  score: Scorer,
  encode: (text: string) => readonly number[],
  questions: readonly Question[],
  progress: (done: number) => void = () => {},
  step: Step = straight,
): Promise<Choices> {
  const answers: Choices['answers'] = [];
  for (const [at, question] of questions.entries()) {
    answers.push(await step(`question ${at}`, () => chosen(score, encode, question)));
    progress(at + 1);
  }
  const of = questions.length;
  return {
    accuracy: shareOf(answers.filter(({ right }) => right).length, of),
    normalised: shareOf(answers.filter(({ normalised }) => normalised).length, of),
    questions: of,
    answers,
  };
}

async function chosen(
  score: Scorer,
  encode: (text: string) => readonly number[],
  { question, choices, answer }: Question,
): Promise<{ right: boolean; normalised: boolean }> {
  const sums: number[] = [];
  for (const choice of choices) {
    const before = encode(question).length;
    const tokens = Int32Array.from(encode(`${question} ${choice}`));
    const { logprobs } = await score(tokens, { from: Math.max(1, Math.min(before, tokens.length - 1)) });
    sums.push(logprobs.reduce((sum, one) => sum + one, 0));
  }
  const perByte = sums.map((sum, which) => sum / Buffer.byteLength(choices[which] as string));
  return { right: best(sums) === answer, normalised: best(perByte) === answer };
}

const best = (values: readonly number[]): number => values.indexOf(Math.max(...values));
