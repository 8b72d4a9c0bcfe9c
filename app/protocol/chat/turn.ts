import { z } from 'zod';
import { Grounding } from '../documents.ts';
import { Failure } from '../errors.ts';
import { ToolUse } from './tools.ts';

//  A turn is one question and its answer.
//
//  grounding? ─▶ started ─▶ progress* ─▶ (delta | calling | tool | stats | loop ─▶ paused ─▶ decided)* ─▶ finished | failed
//
//  The same events go unchanged from the engine to the pixels. Exactly one of finished and failed ends a turn, always.

export const FinishReason = z.enum(['stop', 'length', 'tool', 'cancelled', 'loop', 'context', 'error']);
export type FinishReason = z.infer<typeof FinishReason>;

/** Why known tokens were read again (the addon's `Reuse`). */
export const MissReason = z.enum(['boundary', 'evicted', 'unread', 'path']);
export type MissReason = z.infer<typeof MissReason>;

export const Usage = z.object({
  promptTokens: z.number().int(),
  cachedTokens: z.number().int(),
  /** Known tokens that were read again all the same; absent where there were none. */
  miss: z.object({ tokens: z.number().int(), reason: MissReason }).optional(),
  /** The first token, counted from 0, in which the prompt differs from everything known, and its text; absent where it only
   *  adds to what is known. */
  differs: z.object({ token: z.number().int(), text: z.string() }).optional(),
  thinkingTokens: z.number().int(),
  answerTokens: z.number().int(),
});
export type Usage = z.infer<typeof Usage>;

export const Timings = z.object({
  /** From sending to the first token. */
  firstTokenMs: z.number(),
  prefillMs: z.number(),
  /** Decode clock only. */
  decodeMs: z.number(),
  thinkingMs: z.number(),
  totalMs: z.number(),
  /** How long a GPU worked, by its own clock; absent where the CPU computes. */
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
  /** `returns`: paragraphs that take up again what was said, in other words; `entries`: a list that counts on with what it has. */
  kind: z.enum(['exact', 'similar', 'collapse', 'returns', 'entries']),
  text: z.string(),
  repeats: z.number().int(),
  /** Tokens of one copy. */
  periodTokens: z.number().int(),
  /** First and last place, in tokens of the answer. */
  startToken: z.number().int(),
  endToken: z.number().int(),
  spentTokens: z.number().int(),
  /** "Up to": what the rest of the budget would have cost. */
  savedTokens: z.number().int(),
  times: z.number().int(),
  /** What was decided about it; absent while it is asked, and in answers of older versions. */
  decided: z.enum(['answer-now', 'rewind', 'keep-going', 'loop-guard-off', 'stop']).optional(),
});
export type LoopEvidence = z.infer<typeof LoopEvidence>;

export const PauseAction = z.enum(['answer-now', 'rewind', 'keep-going', 'loop-guard-off', 'stop', 'allow', 'deny']);
export type PauseAction = z.infer<typeof PauseAction>;

/** The loops of an answer once the last one is decided about. */
export function withDecision(loops: readonly LoopEvidence[], choice: PauseAction): LoopEvidence[] {
  const decided = LoopEvidence.shape.decided.safeParse(choice);
  if (!decided.success || decided.data === undefined) return [...loops];
  return loops.map((loop, index) =>
    index === loops.length - 1 && loop.decided === undefined ? { ...loop, decided: decided.data } : loop,
  );
}

export const TurnEvent = z.discriminatedUnion('type', [
  /** An answer from documents: with its sources before the first text, and again before the end with what was cited and how
   *  well every sentence stands in them. The later one replaces the earlier. */
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
  /** A call is being written, which is no text of the answer: so many characters of it so far. */
  z.object({ type: z.literal('calling'), characters: z.number().int() }),
  /** A call as it stands now. The later one replaces the earlier with the same id. */
  z.object({ type: z.literal('tool'), use: ToolUse }),
  z.object({ type: z.literal('loop'), evidence: LoopEvidence }),
  /** Much of it is alike, as it may be wanted: nothing stops, and nothing is kept. */
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
    /** No loop, but so many tokens of thinking, which is unusually long. */
    thought: z.number().int().optional(),
  }),
  z.object({ type: z.literal('decided'), choice: PauseAction }),
  /** Text from `from` on (characters of that kind) was taken back: rewind, or a stop string that began to show. */
  z.object({ type: z.literal('retracted'), kind: z.enum(['thinking', 'answer']), from: z.number().int() }),
  z.object({ type: z.literal('stats'), sample: StatsSample }),
  z.object({ type: z.literal('finished'), reason: FinishReason, usage: Usage, timings: Timings }),
  z.object({ type: z.literal('failed'), failure: Failure, usage: Usage.optional(), timings: Timings.optional() }),
]);
export type TurnEvent = z.infer<typeof TurnEvent>;
