import { z } from 'zod';
import { Grounding } from '../documents.ts';
import { Failure } from '../errors.ts';
import { ChatId, CollectionId, MessageId, ModelId, RemoteEngineId, Time, TurnId } from '../ids.ts';
import { Attachment } from './attachment.ts';
import { ToolNames, ToolUse } from './tools.ts';
import { FinishReason, LoopEvidence, Timings, Usage } from './turn.ts';

/** Unset fields follow the model's generation_config, then the engine's defaults. */
export const SamplingSettings = z
  .object({
    temperature: z.number().min(0).max(5),
    topK: z.number().int().min(0).max(1000),
    topP: z.number().min(0).max(1),
    minP: z.number().min(0).max(1),
    repetitionPenalty: z.number().min(0.5).max(2),
    presencePenalty: z.number().min(-2).max(2),
    frequencyPenalty: z.number().min(-2).max(2),
    seed: z.number().int().nonnegative(),
    maxTokens: z.number().int().min(1).max(1_000_000),
  })
  .partial();
export type SamplingSettings = z.infer<typeof SamplingSettings>;

export const Chat = z.object({
  id: ChatId,
  title: z.string(),
  /** Who set the title: nobody yet, the model, or the user (then the model never changes it). */
  titleSource: z.enum(['none', 'model', 'user']),
  pinned: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
  modelId: ModelId.nullable(),
  systemPrompt: z.string(),
  sampling: SamplingSettings,
  /** null follows the model's default. */
  thinking: z.boolean().nullable(),
  loopGuard: z.boolean(),
  /** Collections to answer from; empty: no documents. */
  collectionIds: z.array(CollectionId),
  /** Tools that are switched on; null follows Settings. */
  tools: ToolNames.nullable(),
  /** The remote engine that may receive passages of documents in this chat; null: none, they stay on this computer. */
  passagesTo: RemoteEngineId.nullable().default(null),
  draft: z.string(),
  /** The last message of the selected branch. */
  leafId: MessageId.nullable(),
});
export type Chat = z.infer<typeof Chat>;

/** Maximum queued messages per chat. */
export const MAX_QUEUED = 5;

export const MessageState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('done'), reason: FinishReason.nullable() }),
  /** The lowest place goes first, on ties the older message; rows of older versions have no place, which counts as 0. */
  z.object({ status: z.literal('queued'), place: z.number().int().optional() }),
  z.object({ status: z.literal('running'), turnId: TurnId }),
  /** Paused in a loop (`evidence`), or after `thought` tokens of thinking. */
  z.object({
    status: z.literal('paused'),
    turnId: TurnId,
    evidence: LoopEvidence.optional(),
    thought: z.number().int().optional(),
  }),
  z.object({ status: z.literal('failed'), failure: Failure }),
]);
export type MessageState = z.infer<typeof MessageState>;

/** This message and all before it are excluded from the prompt since `since`; a summary may replace them. `back`: when they were
 *  included again. */
export const ContextCutoff = z.object({ since: Time, summary: z.string().nullable(), restored: z.boolean() });
export type ContextCutoff = z.infer<typeof ContextCutoff>;

/** A node of the conversation tree. Siblings (same parent and role) are versions of one message. */
export const Message = z.object({
  id: MessageId,
  chatId: ChatId,
  parentId: MessageId.nullable(),
  role: z.enum(['user', 'assistant']),
  createdAt: Time,
  text: z.string(),
  thinking: z.string(),
  attachments: z.array(Attachment),
  state: MessageState,
  /** For answers: the model and how it went. */
  modelName: z.string().nullable(),
  usage: Usage.nullable(),
  timings: Timings.nullable(),
  loops: z.array(LoopEvidence),
  /** For answers from documents: their sources. */
  grounding: Grounding.nullable(),
  contextCutoff: ContextCutoff.nullable(),
  /** For answers: the calls, in order. */
  toolUses: z.array(ToolUse),
});
export type Message = z.infer<typeof Message>;

/** A hit of the sidebar search. Highlights are [start, end) in characters of `excerpt`. */
export const SearchHit = z.object({
  chatId: ChatId,
  messageId: MessageId.nullable(),
  title: z.string(),
  excerpt: z.string(),
  highlights: z.array(z.tuple([z.number().int(), z.number().int()])),
});
export type SearchHit = z.infer<typeof SearchHit>;
