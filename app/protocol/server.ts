import { z } from 'zod';
import { Time } from './ids.ts';

//  The server for other programs, as the page shows it. Whether it is on, its port and the inspector are settings.

export const ServerState = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('off') }),
  z.object({ phase: z.literal('starting') }),
  z.object({
    phase: z.literal('on'),
    address: z.string(),
    port: z.number().int(),
    since: Time,
  }),
  /** `free`: the next port that nobody has. */
  z.object({
    phase: z.literal('failed'),
    reason: z.enum(['taken', 'forbidden', 'other']),
    port: z.number().int(),
    free: z.number().int().nullable(),
    message: z.string(),
  }),
]);
export type ServerState = z.infer<typeof ServerState>;

/** What is known of a key; the key itself is shown once and kept as a hash. */
export const ServerKey = z.object({
  id: z.string(),
  name: z.string(),
  /** Its first and last letters. */
  hint: z.string(),
  createdAt: Time,
  usedAt: Time.nullable(),
});
export type ServerKey = z.infer<typeof ServerKey>;

/** A request without its texts. Times in ms. */
export const ServerRequest = z.object({
  id: z.string(),
  at: Time,
  method: z.string(),
  path: z.string(),
  /** The name of the key; null where there was none that fits. */
  client: z.string().nullable(),
  model: z.string().nullable(),
  state: z.enum(['running', 'done', 'failed', 'stopped', 'refused']),
  /** Of HTTP, once it is known. */
  status: z.number().int().nullable(),
  /** Why it was refused or failed. */
  reason: z.string().nullable(),
  promptTokens: z.number().int().nullable(),
  /** Of these, what was known and not read again. */
  cachedTokens: z.number().int().nullable(),
  writtenTokens: z.number().int().nullable(),
  firstMs: z.number().nullable(),
  totalMs: z.number().nullable(),
  /** What was asked and answered can be asked for. */
  inspected: z.boolean(),
});
export type ServerRequest = z.infer<typeof ServerRequest>;

/** Kept in memory while the inspector is on. */
export const ServerTexts = z.object({
  asked: z.array(z.object({ role: z.string(), text: z.string() })),
  thinking: z.string(),
  answer: z.string(),
});
export type ServerTexts = z.infer<typeof ServerTexts>;

const nothing = z.void();

export const serverCalls = {
  'server.state': { request: nothing, response: ServerState },
  /** Tries the port again. */
  'server.retry': { request: nothing, response: nothing },
  'server.keys': { request: nothing, response: z.array(ServerKey) },
  /** The only answer with the key in it. */
  'server.addKey': {
    request: z.object({ name: z.string().trim().min(1).max(60) }),
    response: z.object({ key: z.string(), added: ServerKey }),
  },
  /** From now on it opens nothing; what was asked with it and still runs is stopped. */
  'server.revokeKey': {
    request: z.object({ id: z.string() }),
    response: nothing,
  },
  /** Newest first. */
  'server.requests': { request: nothing, response: z.array(ServerRequest) },
  'server.texts': {
    request: z.object({ id: z.string() }),
    response: ServerTexts.nullable(),
  },
  'server.stop': { request: z.object({ id: z.string() }), response: nothing },
  /** Forgets the requests that are over. */
  'server.clear': { request: nothing, response: nothing },
} as const;

export const serverEvents = {
  'server.state': ServerState,
  'server.keys': z.array(ServerKey),
  /** All of them, several times a second at most. */
  'server.requests': z.array(ServerRequest),
} as const;
