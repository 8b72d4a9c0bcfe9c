import type { Tool } from '../chat-template.ts';
import type { Tokenizer } from '../tokenizer/tokenizer.ts';
import { callBody, type Part } from './call-body-grammar.ts';
import type { CallFormat } from './call-formats.ts';
import { textBeginningWithout, textWithout } from './text-without.ts';

/** What an answer is beside calls: `none`, a value of a schema in their place, or any text around them. */
export type BesideCalls = { kind: 'none' | 'text' } | { kind: 'schema'; schema: unknown };

export type AnswerWithCalls = {
  tools: readonly Tool[];
  beside: BesideCalls;
  /** Of them; null: as many as the model likes. */
  most: number | null;
};

/** An answer that may call these tools. The arguments of a call are of the tool's schema where it is `strict`, or where nothing
 *  but calls is wanted; those of others are any object. */
export function answerGrammar(format: CallFormat, answer: AnswerWithCalls, tokenizer: Tokenizer): Part {
  const { beside, most } = answer;
  const block = blockOf(format, answer, tokenizer);
  // Without a marker a call is the whole answer.
  const rest = format.open === null || most === 1 ? null : most === null ? {} : { most: most - 1 };
  const calls: Part = [block, rest ? { repeat: [{ optional: '\n' }, block], ...rest } : []];
  if (beside.kind === 'none') return calls;
  if (beside.kind === 'schema')
    return most === 0 ? { schema: beside.schema } : { choice: [{ schema: beside.schema }, calls] };
  if (format.open === null) return { choice: [{ regex: textBeginningWithout('{[') }, ...(most === 0 ? [] : [calls])] };
  const text: Part = { regex: textWithout(markerOf(format.open, tokenizer) === format.open ? format.open : null) };
  return [text, { repeat: [block, text], ...(most !== null && { most }) }];
}

function blockOf(
  { open, close, body }: CallFormat,
  { tools, beside, most }: AnswerWithCalls,
  tokenizer: Tokenizer,
): Part {
  const bodies = tools.map((tool) => callBody(body, tool, { open, bound: beside.kind === 'none' || isStrict(tool) }));
  const line = open?.startsWith('<tool_call') ? '\n' : '';
  // Some families write all their calls in one list.
  const listed = body === 'python' || open === '[TOOL_CALLS]';
  const more: Part = listed && most === null ? { repeat: [', ', { choice: bodies }] } : [];
  const calls: Part = listed ? ['[', { choice: bodies }, more, ']'] : { choice: bodies };
  return [markerOf(open, tokenizer), line, calls, line, markerOf(close, tokenizer)];
}

const isStrict = ({ function: { strict } }: Tool): boolean => strict === true;

function markerOf(text: string | null, tokenizer: Tokenizer): Part {
  const known = text === null ? undefined : tokenizer.markers.find((one) => one.text === text);
  return known ? { control: known.id } : (text ?? '');
}
