import { z } from 'zod';
import { ModelId, ToolUseId } from '../ids.ts';
import { Attachment } from './attachment.ts';

//  Tools that a model may call, and the calls it made.

/** A tool that can be switched on for a chat. Its description is part of the prompt and takes room in the context. */
export const ToolEntry = z.object({
  /** The name for the model. */
  name: z.string().min(1).max(64),
  /** The display name: for a server's tool, the server's own. */
  title: z.string(),
  /** The page has its own names for built-in tools (strings `tools.names`). */
  builtIn: z.boolean(),
  /** Its server; null: built in. */
  server: z.string().nullable(),
  description: z.string(),
});
export type ToolEntry = z.infer<typeof ToolEntry>;

/** Why a call has no result; the page has a sentence for each (strings `tools.failed`). */
export const ToolProblem = z.enum([
  'unknown', // no such tool is switched on in this chat
  'arguments', // they do not match the tool's schema
  'failed', // the tool says why
  'timed-out',
  'repeated', // the same call for the third time
]);
export type ToolProblem = z.infer<typeof ToolProblem>;

//  waiting ──▶ (asking ──▶ refused) ──▶ running ──▶ done | failed
//                └─ stopped, or Longhand quit ──▶ interrupted: it may have run in part, and is not run again
export const ToolUseState = z.discriminatedUnion('status', [
  /** Nothing was done yet. */
  z.object({ status: z.literal('waiting') }),
  /** Waits for consent. `destroys`: irreversible, so it can never be allowed permanently. `host`: the site
   *  that it opens; null: a tool of another program. */
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
  /** The result as sent to the model; null until known. */
  result: z.string().nullable(),
  /** Pictures in the result: shown to the user, described to the model in words. */
  pictures: z.array(Attachment).default([]),
  state: ToolUseState,
  /** Parallel calls have the same step; counted from 0. */
  step: z.number().int().nonnegative(),
  /** Its position in the text and in the thinking of the answer, in characters. */
  textAt: z.number().int().nonnegative(),
  thinkingAt: z.number().int().nonnegative(),
});
export type ToolUse = z.infer<typeof ToolUse>;

export const ToolChoice = z.enum(['once', 'chat', 'always', 'deny']);
export type ToolChoice = z.infer<typeof ToolChoice>;

/** Rounds of calls in one answer before it stops and asks; pending calls wait. */
export const TOOL_STEPS = 8;

const name = z.string().min(1).max(64);
/** Names of enabled tools. */
export const ToolNames = z.array(name).max(200);

export const toolCalls = {
  /** All tools, and whether this model (null: the default) supports calls, according to its template. */
  'tools.list': {
    request: z.object({ modelId: ModelId.nullable().default(null) }),
    response: z.object({ able: z.boolean(), tools: z.array(ToolEntry) }),
  },
  /** Sites whose pages may be opened in every chat without asking. */
  'tools.pageHosts': { request: z.void(), response: z.array(z.string()) },
  /** Revokes the permission of a site. */
  'tools.forgetPageHost': { request: z.object({ host: z.string().min(1).max(300) }), response: z.void() },
} as const;
