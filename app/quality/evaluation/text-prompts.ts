import { decode } from '../../text/tokenizer/detokenizer.ts';
import type { Tokenizer } from '../../text/tokenizer/tokenizer.ts';
import type { TextQuestion } from '../reading.ts';

const ASKS =
  'Read the text and answer the question about it. Give only the answer, without an explanation.\n\nText:\n{context}\n\nQuestion: {input}';
const SUMMARISES = 'Summarise the text in one paragraph.\n\nText:\n{context}';

/** A prompt of at most `longest` tokens: a longer text loses its middle, since questions are often about beginnings and ends. */
export function promptFor(
  question: TextQuestion,
  longest: number,
  tokenizer: Tokenizer,
): { prompt: string; shortened: boolean } {
  const { context, input } = question;
  const form = question.prompt ?? (input === '' ? SUMMARISES : ASKS);
  const filled = (text: string) =>
    form.replace(/\{(context|input)\}/g, (_, name) => (name === 'context' ? text : input));
  const ids = tokenizer.encodeText(context);
  const room = Math.max(2, longest - tokenizer.encodeText(filled('')).length);
  if (ids.length <= room) return { prompt: filled(context), shortened: false };
  const half = Math.floor(room / 2);
  const [start, end] = [ids.slice(0, half), ids.slice(-half)].map((some) => decode(tokenizer, some));
  return { prompt: filled(`${start} … ${end}`), shortened: true };
}
