import type { AnswerRequest, Tool } from '../../core/inference.ts';
import { LonghandError } from '../../protocol/index.ts';

//  The grammar that constrains an answer, independent of the API dialect.

export type Choice = {
  mode: 'auto' | 'none' | 'required';
  /** Names of tools that may be called; null: all. */
  only: readonly string[] | null;
};

export type Wanted = {
  tools: readonly Tool[];
  choice: Choice;
  /** Schema of an answer that is not a call; undefined: any text. */
  schema?: unknown;
  /** Maximum number of calls; null: unlimited. */
  most?: number | null;
};

export const anyObject = { type: 'object' } as const;
export const anyCall: Choice = { mode: 'auto', only: null };

/** null: unconstrained.
 *  @throws LonghandError `bad-request` if a required tool does not exist */
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
