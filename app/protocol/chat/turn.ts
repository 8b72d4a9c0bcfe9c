import { z } from 'zod';
import { Grounding } from '../documents.ts';
import { Failure } from '../errors.ts';
import { ToolUse } from './tools.ts';

//  A turn is one question and its answer.
//
//  grounding? ─▶ started ─▶ progress* ─▶ (delta | calling | tool | stats | loop ─▶ paused ─▶ decided)* ─▶ finished | failed
//
//  The same events go unchanged from the engine to the page. Exactly one of finished and failed ends every turn.

export const FinishReason = z.enum(['stop', 'length', 'tool', 'cancelled', 'loop', 'context', 'error']);
export type FinishReason = z.infer<typeof FinishReason>;

/** Why known tokens were prefilled again (the addon's `Reuse`). */
export const MissReason = z.enum(['boundary', 'evicted', 'unread', 'path']);
export type MissReason = z.infer<typeof MissReason>;

export const Usage = z.object({
  promptTokens: z.number().int(),
  cachedTokens: z.number().int(),
  /** Known tokens that were prefilled again all the same; absent if none. */
  miss: z.object({ tokens: z.number().int(), reason: MissReason }).optional(),
  /** The first token, counted from 0, at which the prompt differs from everything known, and its text; absent if it only
   *  extends what is known. */
  differs: z.object({ token: z.number().int(), text: z.string() }).optional(),
  thinkingTokens: z.number().int(),
  answerTokens: z.number().int(),
});
export type Usage = z.infer<typeof Usage>;

export const Timings = z.object({
  /** Time to first token, from sending. */
  firstTokenMs: z.number(),
  prefillMs: z.number(),
  /** Decode time only. */
  decodeMs: z.number(),
  thinkingMs: z.number(),
  totalMs: z.number(),
  /** GPU time by its own clock; absent on the CPU. */
  deviceMs: z.number().optional(),
  /** Decode only; null with fewer than two tokens. */
  tokensPerSecond: z.number().nullable(),
});
export type Timings = z.infer<typeof Timings>;

/** One point of the speed chart, at most ten a second. */
export const StatsSample = z.object({
  atMs: z.number(),
  phase: z.enum(['prefill', 'thinking', 'answer']),
  tokensPerSecond: z.number().nullable(),
  tokens: z.number().int(),
  memoryBytes: z.number().nullable(),
});
export type StatsSample = z.infer<typeof StatsSample>;

export const LoopEvidence = z.object({
  where: z.enum(['thinking', 'answer']),
  /** `returns`: paragraphs that repeat what was said in other words; `entries`: a list whose new entries were there before. */
  kind: z.enum(['exact', 'similar', 'collapse', 'returns', 'entries']),
  text: z.string(),
  repeats: z.number().int(),
  /** Length of one repetition in tokens. */
  periodTokens: z.number().int(),
  /** Start and end, in tokens of the answer. */
  startToken: z.number().int(),
  endToken: z.number().int(),
  spentTokens: z.number().int(),
  /** Upper bound: the rest of the token limit. */
  savedTokens: z.number().int(),
  times: z.number().int(),
  /** The decision; absent while pending, and in answers of older versions. */
  decided: z.enum(['answer-now', 'rewind', 'keep-going', 'loop-guard-off', 'stop']).optional(),
});
export type LoopEvidence = z.infer<typeof LoopEvidence>;

export const PauseAction = z.enum(['answer-now', 'rewind', 'keep-going', 'loop-guard-off', 'stop', 'allow', 'deny']);
export type PauseAction = z.infer<typeof PauseAction>;

/** The loops of an answer with the decision on the last one added. */
export function withDecision(loops: readonly LoopEvidence[], choice: PauseAction): LoopEvidence[] {
  const decided = LoopEvidence.shape.decided.safeParse(choice);
  if (!decided.success || decided.data === undefined) return [...loops];
  return loops.map((loop, index) =>
    index === loops.length - 1 && loop.decided === undefined ? { ...loop, decided: decided.data } : loop,
  );
}

export const TurnEvent = z.discriminatedUnion('type', [
  /** Sources of an answer from documents: sent before the first text, and again before the end with citations and how
   *  well every sentence is supported. The later one replaces the earlier. */
  z.object({ type: z.literal('grounding'), grounding: Grounding }),
  z.object({ type: z.literal('started'), model: z.string(), backEnd: z.string() }),
  z.object({ type: z.literal('progress'), done: z.number().int(), total: z.number().int(), cached: z.number().int() }),
  /** `text` is appended. `tokens` counts the new tokens, whole characters only. */
  z.object({
    type: z.literal('delta'),
    text: z.string(),
    kind: z.enum(['thinking', 'answer']),
    tokens: z.number().int(),
  }),
  /** A call is being written, which is not part of the answer's text: its length so far. */
  z.object({ type: z.literal('calling'), characters: z.number().int() }),
  /** The current state of a call. Replaces an earlier one with the same id. */
  z.object({ type: z.literal('tool'), use: ToolUse }),
  z.object({ type: z.literal('loop'), evidence: LoopEvidence }),
  /** Similar lines that may be intended: nothing stops, and nothing is stored. */
  z.object({
    type: z.literal('similar'),
    where: z.enum(['thinking', 'answer']),
    repeats: z.number().int(),
    text: z.string(),
  }),
  z.object({
    type: z.literal('paused'),
    choices: z.array(PauseAction),
    suggested: PauseAction,
    evidence: LoopEvidence.optional(),
    /** Not a loop, but this many tokens of thinking, which is unusually long. */
    thought: z.number().int().optional(),
  }),
  z.object({ type: z.literal('decided'), choice: PauseAction }),
  /** Text from `from` on (characters of that kind) was retracted: by a rewind, or because a stop string began to show. */
  z.object({ type: z.literal('retracted'), kind: z.enum(['thinking', 'answer']), from: z.number().int() }),
  z.object({ type: z.literal('stats'), sample: StatsSample }),
  z.object({ type: z.literal('finished'), reason: FinishReason, usage: Usage, timings: Timings }),
  z.object({ type: z.literal('failed'), failure: Failure, usage: Usage.optional(), timings: Timings.optional() }),
]);
export type TurnEvent = z.infer<typeof TurnEvent>;
