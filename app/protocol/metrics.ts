import { z } from 'zod';
import { Failure } from './errors.ts';
import { ChatId, MessageId, ModelId, Time } from './ids.ts';

/** One measured answer, or one run of a benchmark. */
export const Run = z.object({
  id: z.number().int(),
  /** Groups the runs of one benchmark of one model; null for an answer. */
  batch: z.string().nullable(),
  messageId: MessageId.nullable(),
  chatId: ChatId.nullable(),
  at: Time,
  model: z.string(),
  backEnd: z.string(),
  /** Version of the engine. */
  engine: z.string(),
  promptTokens: z.number().int(),
  cachedTokens: z.number().int(),
  tokens: z.number().int(),
  /** Tokens per second; null if there were too few to measure. */
  prefill: z.number().nullable(),
  decode: z.number().nullable(),
  firstTokenMs: z.number(),
  memoryBytes: z.number().nullable(),
  /** The machine was busy: shown, but not counted. */
  disturbed: z.boolean(),
  /** For benchmark runs: [ms since the question, tokens per second]. */
  curve: z.array(z.tuple([z.number(), z.number()])),
});
export type Run = z.infer<typeof Run>;

/** Conditions that make a measurement unreliable. */
export const Conditions = z.object({ battery: z.boolean(), hot: z.boolean(), busy: z.boolean() });
export type Conditions = z.infer<typeof Conditions>;

//  idle ──start──▶ running ──last run, or cancel──▶ idle          running ──a run fails──▶ failed ──start──▶ running
export const BenchmarkState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('idle') }),
  z.object({ status: z.literal('running'), modelId: ModelId, done: z.number().int(), total: z.number().int() }),
  z.object({ status: z.literal('failed'), failure: Failure }),
]);
export type BenchmarkState = z.infer<typeof BenchmarkState>;
