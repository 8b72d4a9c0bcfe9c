import type { AnswerRequest, Tool } from '../../core/inference.ts';
import { LonghandError } from '../../protocol/index.ts';

//  What binds an answer, whatever words its dialect asks in.

export type Choice = {
  mode: 'auto' | 'none' | 'required';
  /** Tools that may be called by their names; null: all that are given. */
  only: readonly string[] | null;
};

export type Wanted = {
  tools: readonly Tool[];
  choice: Choice;
  /** Of the answer where it is no call; undefined: any text. */
  schema?: unknown;
  /** Calls at most; null: as many as the model likes. */
  most?: number | null;
};

export const anyObject = { type: 'object' } as const;
export const anyCall: Choice = { mode: 'auto', only: null };

/** null: nothing binds it.
 *  @throws LonghandError `bad-request` where a tool is wanted that is not there */
export function answerGrammar({
  tools: given,
  choice: { mode, only },
  schema,
  most = null,
}: Wanted): NonNullable<AnswerRequest['grammar']> | null {
  const tools = mode === 'none' ? [] : allowedOf(given, only);
  if (mode === 'required') return { kind: 'calls', tools: someOf(tools), beside: { kind: 'none' }, most: 1 };
  if (tools.length === 0) return schema === undefined ? null : { kind: 'json-schema', text: JSON.stringify(schema) };
  if (schema !== undefined) return { kind: 'calls', tools, beside: { kind: 'schema', schema }, most };
  const bound = most !== null || only !== null || tools.some(({ function: { strict } }) => strict === true);
  return bound ? { kind: 'calls', tools, beside: { kind: 'text' }, most } : null;
}

function allowedOf(tools: readonly Tool[], only: readonly string[] | null): readonly Tool[] {
  const known = tools.map((tool) => tool.function.name);
  const missing = only?.find((name) => !known.includes(name));
  if (missing === undefined) return tools.filter((tool) => only === null || only.includes(tool.function.name));
  throw new LonghandError(
    'bad-request',
    `[tool_choice] there is no tool "${missing}"; ${known.length === 0 ? 'the request gives none' : `expected one of ${known.join(', ')}`}`,
  );
}

function someOf(tools: readonly Tool[]): readonly Tool[] {
  if (tools.length > 0) return tools;
  throw new LonghandError('bad-request', '[tool_choice] a call is required, and the request gives no tools');
}
