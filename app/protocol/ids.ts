import { z } from 'zod';

/** Identifiers are UUIDv7 strings: unique, and sorted by creation time. One brand each, so that they cannot be mixed up. */
const id = <Brand extends string>(brand: Brand) => z.string().min(1).max(64).brand(brand);

export const ChatId = id('chat');
export const MessageId = id('message');
export const TurnId = id('turn');
export const AttachmentId = id('attachment');
/** A model the user can pick: one that ships with the app, or one the library gave a name to. */
export const ModelId = id('model');
export const CollectionId = id('collection');
export const DocumentId = id('document');
export const PassageId = id('passage');
export const McpServerId = id('mcp-server');
export const RemoteEngineId = id('remote-engine');
/** Nine alphanumeric characters, as required by the strictest chat template (Mistral). */
export const ToolUseId = id('tool-use');

/** The default model, if the package has one, and the model for the engine's self-test. */
export const ASSISTANT = ModelId.parse('assistant');
export const STARTER = ModelId.parse('starter');

export type ChatId = z.infer<typeof ChatId>;
export type MessageId = z.infer<typeof MessageId>;
export type TurnId = z.infer<typeof TurnId>;
export type AttachmentId = z.infer<typeof AttachmentId>;
export type ModelId = z.infer<typeof ModelId>;
export type CollectionId = z.infer<typeof CollectionId>;
export type DocumentId = z.infer<typeof DocumentId>;
export type PassageId = z.infer<typeof PassageId>;
export type McpServerId = z.infer<typeof McpServerId>;
export type RemoteEngineId = z.infer<typeof RemoteEngineId>;
export type ToolUseId = z.infer<typeof ToolUseId>;

/** Wall-clock milliseconds since 1970, possibly negative. For display only; never for measuring. */
export const Time = z.number().int();
