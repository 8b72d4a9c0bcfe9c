import { z } from 'zod';
import { type Estimate, shareOf } from '../protocol/index.ts';
import { questionsIn } from './question-lines.ts';
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
export const readQuestions = (text: string): Question[] =>
  questionsIn(text, Line, '{"question": TEXT, "choices": [TEXT, …], "answer": INDEX}');

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
