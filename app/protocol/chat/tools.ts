import { z } from 'zod';
import { ModelId, ToolUseId } from '../ids.ts';
import { Attachment } from './attachment.ts';

//  What a model may do besides writing, and what it did.

/** What can be switched on for a chat. Everything about one is told to the model, and takes room in its context. */
export const ToolEntry = z.object({
  /** As the model calls it. */
  name: z.string().min(1).max(64),
  /** As people call it: of a server, its own name for it. */
  title: z.string(),
  /** Of a tool that ships with Longhand the page has the words itself (strings `tools.names`). */
  builtIn: z.boolean(),
  /** Whose it is; null: it ships with Longhand. */
  server: z.string().nullable(),
  description: z.string(),
});
export type ToolEntry = z.infer<typeof ToolEntry>;

/** Why a call has no result of its tool; the page has a sentence for each (strings `tools.failed`). */
export const ToolProblem = z.enum([
  'unknown', // no such tool is switched on in this chat
  'arguments', // they are not what the tool takes
  'failed', // the tool says why
  'timed-out',
  'repeated', // the same call for the third time
]);
export type ToolProblem = z.infer<typeof ToolProblem>;

//  waiting ──▶ (asking ──▶ refused) ──▶ running ──▶ done | failed
//                └─ stopped, or Longhand ended ──▶ interrupted: it may have been done in part, and is not done again
export const ToolUseState = z.discriminatedUnion('status', [
  /** Nothing was done yet. */
  z.object({ status: z.literal('waiting') }),
  /** Somebody has to allow it. `destroys`: what it does cannot be brought back, so it is never allowed for good. `host`: the site
   *  that it opens; null: it is of another program. */
  z.object({ status: z.literal('asking'), destroys: z.boolean(), host: z.string().nullable().default(null) }),
  z.object({ status: z.literal('refused') }),
  z.object({ status: z.literal('running') }),
  z.object({ status: z.literal('done'), ms: z.number().nonnegative() }),
  z.object({ status: z.literal('failed'), problem: ToolProblem, ms: z.number().nonnegative() }),
  z.object({ status: z.literal('interrupted') }),
]);
export type ToolUseState = z.infer<typeof ToolUseState>;

/** One call of a tool in an answer. */
export const ToolUse = z.object({
  id: ToolUseId,
  name: z.string(),
  /** JSON. */
  arguments: z.string(),
  /** What the model gets to read; null until it is known. */
  result: z.string().nullable(),
  /** Pictures among what came back: the user sees them, the model is told of them in words. */
  pictures: z.array(Attachment).default([]),
  state: ToolUseState,
  /** Calls that were made at once have the same; counted from 0. */
  step: z.number().int().nonnegative(),
  /** Where in the text and in the thinking of the answer it stands, in characters. */
  textAt: z.number().int().nonnegative(),
  thinkingAt: z.number().int().nonnegative(),
});
export type ToolUse = z.infer<typeof ToolUse>;

export const ToolChoice = z.enum(['once', 'chat', 'always', 'deny']);
export type ToolChoice = z.infer<typeof ToolChoice>;

/** Rounds of calls of one answer before it stops and asks; what is not done by then waits. */
export const TOOL_STEPS = 8;

const name = z.string().min(1).max(64);
/** Names of tools that are switched on. */
export const ToolNames = z.array(name).max(200);

export const toolCalls = {
  /** What there is, and whether this model (null: the one that a new chat begins with) can call it: its template says so. */
  'tools.list': {
    request: z.object({ modelId: ModelId.nullable().default(null) }),
    response: z.object({ able: z.boolean(), tools: z.array(ToolEntry) }),
  },
  /** Sites whose pages are opened in every chat without asking. */
  'tools.pageHosts': { request: z.void(), response: z.array(z.string()) },
  /** It is asked about again, in every chat. */
  'tools.forgetPageHost': { request: z.object({ host: z.string().min(1).max(300) }), response: z.void() },
} as const;
