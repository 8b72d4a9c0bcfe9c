import { z } from 'zod';
import type { ParsedCall } from '../../text/tool-calls/call-formats.ts';
import { DONE, messageIn } from './connection.ts';
import { type Asked, engineError } from './failures.ts';

//  Parses the events of a remote engine's answer.

export type ReplyUsage = { prompt: number; cached: number; written: number; thinking: number | null };

export type ReplyPart =
  | { type: 'text'; kind: 'thinking' | 'answer'; text: string }
  /** Length so far of a call being written. */
  | { type: 'calling'; characters: number }
  | { type: 'usage'; usage: ReplyUsage }
  | { type: 'end'; reason: string }
  | { type: 'done' };

export type Reply = {
  /** @throws LonghandError `engine-failed` for an error, `unreadable` for anything that is not part of an answer */
  read(event: unknown): ReplyPart[];
  /** The complete calls. @throws LonghandError if the arguments of one are not a JSON object */
  calls(): ParsedCall[];
};

const text = z.string().nullish();
const CallDelta = z.looseObject({
  index: z.number().int().min(0).max(1000).nullish(),
  id: text,
  function: z
    .looseObject({ name: text, arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() })
    .nullish(),
});
const Delta = z.looseObject({
  content: text,
  reasoning_content: text,
  reasoning: text,
  refusal: text,
  tool_calls: z.array(CallDelta).max(128).nullish(),
});
const count = z.number().int().min(0).max(1e9).catch(0);
const Usage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.looseObject({ cached_tokens: count }).nullish().catch(null),
  completion_tokens_details: z.looseObject({ reasoning_tokens: count.nullish() }).nullish().catch(null),
});
const Chunk = z.looseObject({
  choices: z.array(
    z.looseObject({
      index: z.number().nullish(),
      delta: Delta.nullish(),
      message: Delta.nullish(),
      finish_reason: text,
    }),
  ),
  usage: Usage.nullish(),
});

/** Calls in one step, and characters of one. */
const MAX_CALLS = 64;
const MAX_ARGUMENTS = 1_000_000;

export function createReply(asked: Asked): Reply {
  const calls = new Map<number, { name: string; arguments: string; id: string }>();

  function chunkOf(event: unknown): z.infer<typeof Chunk> {
    const said = typeof event === 'object' && event !== null && 'error' in event ? messageIn(event) : null;
    if (said !== null) throw engineError('engine-error', asked, 'it ended with an error', { said });
    const parsed = Chunk.safeParse(event);
    if (parsed.success) return parsed.data;
    throw engineError('engine-foreign', asked, 'what came is no part of an answer', {
      said: JSON.stringify(event)?.slice(0, 120),
    });
  }

  function take(delta: z.infer<typeof CallDelta>, at: number) {
    // Some servers leave the index out and send each call whole.
    const index = delta.index ?? (delta.id || delta.function?.name ? calls.size : at);
    const known = calls.get(index) ?? { name: '', arguments: '', id: '' };
    const given = delta.function?.arguments ?? '';
    known.name = known.name || (delta.function?.name ?? '');
    known.arguments += typeof given === 'string' ? given : JSON.stringify(given);
    calls.set(index, known);
    if (calls.size > MAX_CALLS || known.arguments.length > MAX_ARGUMENTS)
      throw engineError('engine-flood', asked, 'a call is larger than any tool takes');
  }

  return {
    read(event) {
      if (event === DONE) return [{ type: 'done' }];
      const { choices, usage } = chunkOf(event);
      const parts: ReplyPart[] = [];
      const [choice] = choices;
      const delta = choice?.delta ?? choice?.message;
      const thinking = delta?.reasoning_content ?? delta?.reasoning;
      if (thinking) parts.push({ type: 'text', kind: 'thinking', text: thinking });
      const said = delta?.content ?? delta?.refusal;
      if (said) parts.push({ type: 'text', kind: 'answer', text: said });
      if (delta?.tool_calls) {
        for (const [at, call] of delta.tool_calls.entries()) take(call, at);
        const characters = [...calls.values()].reduce((sum, one) => sum + one.name.length + one.arguments.length, 0);
        parts.push({ type: 'calling', characters });
      }
      if (usage) parts.push({ type: 'usage', usage: usageOf(usage) });
      if (choice?.finish_reason) parts.push({ type: 'end', reason: choice.finish_reason });
      return parts;
    },
    calls: () =>
      [...calls.values()].flatMap(({ name, arguments: given }) => {
        if (name === '') return [];
        return [{ name: name.slice(0, 200), arguments: argumentsOf(given, name) }];
      }),
  };

  function argumentsOf(given: string, name: string): object {
    try {
      const value: unknown = given.trim() === '' ? {} : JSON.parse(given);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    } catch {
      // said below
    }
    throw engineError(
      'engine-foreign',
      asked,
      `the arguments of its call of "${name.slice(0, 60)}" are no JSON object`,
      {
        said: given.slice(0, 120),
      },
    );
  }
}

const usageOf = (usage: z.infer<typeof Usage>): ReplyUsage => ({
  prompt: usage.prompt_tokens,
  cached: Math.min(usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens ?? 0),
  written: usage.completion_tokens,
  thinking: usage.completion_tokens_details?.reasoning_tokens ?? null,
});
