import { z } from 'zod';
import { questionsIn } from './question-lines.ts';

/** A question about a text, one JSON line each, with the names of LongBench; what else is in a line is ignored. */
const Line = z.object({
  /** The question; empty: the text is to be summarised. */
  input: z.string().default(''),
  context: z.string().min(1),
  /** Any of them is right. */
  answers: z.array(z.string()).min(1),
  /** What can be answered, if it is one of a few. */
  all_classes: z.array(z.string().min(1)).nullish(),
  /** How it is asked, with {context} and {input} in it. */
  prompt: z
    .string()
    .refine((text) => text.includes('{context}'), { message: 'has no {context}' })
    .optional(),
});
export type TextQuestion = z.infer<typeof Line>;

/** @throws LonghandError `bad-request` naming the line */
export const readTextQuestions = (text: string): TextQuestion[] =>
  questionsIn(text, Line, '{"input": TEXT, "context": TEXT, "answers": [TEXT, …]}');
