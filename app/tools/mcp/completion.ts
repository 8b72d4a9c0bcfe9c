import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { asReadableName } from '../../protocol/index.ts';

//  What a server suggests for a blank of a prompt while its user types. A help and no more: without an answer the blank is a field.

const MAX_SUGGESTIONS = 20;
const MAX_LENGTH = 200;
/** Nobody waits longer for a list under what is being typed. */
const ANSWER_MS = 5000;

export type Blank = {
  /** Of the prompt. */
  name: string;
  argument: string;
  /** As far as it is typed. */
  value: string;
  /** What the other blanks hold: one may depend on another. */
  given: Readonly<Record<string, string>>;
};

/** @throws what the client throws */
export async function suggestionsFor(
  client: Client,
  { name, argument, value, given }: Blank,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  if (!client.getServerCapabilities()?.completions) return [];
  const { completion } = await client.complete(
    {
      ref: { type: 'ref/prompt', name },
      argument: { name: argument, value },
      ...(Object.keys(given).length > 0 && { context: { arguments: { ...given } } }),
    },
    { ...(signal && { signal }), timeout: ANSWER_MS, maxTotalTimeout: ANSWER_MS },
  );
  const readable = completion.values.filter((one) => one.length <= MAX_LENGTH && one.trim() !== '' && readsAsItIs(one));
  return [...new Set(readable)].slice(0, MAX_SUGGESTIONS);
}

/** A suggestion goes back to its server as it is, so one that hides something is left out, not mended. */
const readsAsItIs = (suggestion: string): boolean => asReadableName(suggestion) === suggestion.trim();
