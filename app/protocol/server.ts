import { z } from 'zod';
import { Usage } from './chat/turn.ts';
import { Time } from './ids.ts';

//  The server for other programs, as shown on its page. On/off, port and inspector are settings.

/** The server for other devices of the local network. */
export const NetworkState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('off') }),
  z.object({
    status: z.literal('on'),
    port: z.number().int(),
    /** By name and by address. */
    addresses: z.array(z.string()),
    /** SHA-256 of the certificate, and the certificate itself in PEM: what the other device has to trust. */
    fingerprint: z.string(),
    certificate: z.string(),
  }),
  z.object({
    status: z.literal('failed'),
    reason: z.enum(['taken', 'certificate', 'other']),
    port: z.number().int(),
    message: z.string(),
  }),
]);
export type NetworkState = z.infer<typeof NetworkState>;

export const ServerState = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('off') }),
  z.object({ phase: z.literal('starting') }),
  z.object({
    phase: z.literal('on'),
    address: z.string(),
    port: z.number().int(),
    network: NetworkState,
    since: Time,
  }),
  /** `free`: the next free port. */
  z.object({
    phase: z.literal('failed'),
    reason: z.enum(['taken', 'forbidden', 'other']),
    port: z.number().int(),
    free: z.number().int().nullable(),
    message: z.string(),
  }),
]);
export type ServerState = z.infer<typeof ServerState>;

/** A key without its secret, which is shown once and stored as a hash. */
export const ServerKey = z.object({
  id: z.string(),
  name: z.string(),
  /** Its first and last characters. */
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
  /** The name of the key; null if none matched. */
  client: z.string().nullable(),
  model: z.string().nullable(),
  state: z.enum(['running', 'done', 'failed', 'stopped', 'refused']),
  /** The HTTP status, once known. */
  status: z.number().int().nullable(),
  /** Why it was refused or failed. */
  reason: z.string().nullable(),
  promptTokens: z.number().int().nullable(),
  /** Prompt tokens taken from the cache. */
  cachedTokens: z.number().int().nullable(),
  /** The first token, counted from 0, at which the prompt differs from everything in the cache; null if it does not. */
  differsAt: z.number().int().nullable(),
  /** Known tokens that were prefilled again, and why. */
  miss: Usage.shape.miss.unwrap().nullable(),
  writtenTokens: z.number().int().nullable(),
  firstMs: z.number().nullable(),
  totalMs: z.number().nullable(),
  /** Whether its texts are available. */
  inspected: z.boolean(),
});
export type ServerRequest = z.infer<typeof ServerRequest>;

/** Where a request first differs from the earlier one that it resembles most: the end of what both say, and a line of each. */
export const RequestDifference = z.object({ role: z.string(), before: z.string(), was: z.string(), now: z.string() });
export type RequestDifference = z.infer<typeof RequestDifference>;

/** The texts of a request, in memory while the inspector is on. */
export const ServerTexts = z.object({
  /** `tools` and `prompt` (a text without a template) are roles of ours. */
  asked: z.array(z.object({ role: z.string(), text: z.string() })),
  /** null: it only goes on from an earlier one, or there is none. */
  difference: RequestDifference.nullable(),
  thinking: z.string(),
  answer: z.string(),
  /** A line each: the name of the tool and the arguments. */
  calls: z.string(),
});
export type ServerTexts = z.infer<typeof ServerTexts>;

const nothing = z.void();

export const serverCalls = {
  'server.state': { request: nothing, response: ServerState },
  /** Retries the port. */
  'server.retry': { request: nothing, response: nothing },
  'server.keys': { request: nothing, response: z.array(ServerKey) },
  /** The only response that contains the key. */
  'server.addKey': {
    request: z.object({ name: z.string().trim().min(1).max(60) }),
    response: z.object({ key: z.string(), added: ServerKey }),
  },
  /** Revokes a key and cancels its running requests. */
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
  /** Clears finished requests. */
  'server.clear': { request: nothing, response: nothing },
} as const;

export const serverEvents = {
  'server.state': ServerState,
  'server.keys': z.array(ServerKey),
  /** The whole list, at most a few times per second. */
  'server.requests': z.array(ServerRequest),
} as const;
