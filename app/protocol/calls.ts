import { z } from 'zod';
import { Attachment } from './chat/attachment.ts';
import { Chat, Message, SamplingSettings, SearchHit } from './chat/chat.ts';
import { ToolChoice, ToolNames, toolCalls } from './chat/tools.ts';
import { PauseAction, StatsSample } from './chat/turn.ts';
import { documentCalls } from './documents.ts';
import { Notice } from './events.ts';
import { AttachmentId, ChatId, CollectionId, MessageId, ModelId, RemoteEngineId, ToolUseId, TurnId } from './ids.ts';
import { mcpCalls } from './mcp.ts';
import { BenchmarkState, Conditions, Run } from './metrics.ts';
import { Download } from './models/downloads.ts';
import { Device, EngineStatus, ModelDescription, ModelEntry, ModelSettings, PromptCacheUse } from './models/engine.ts';
import { Library, LibraryPlan } from './models/library.ts';
import { Machine } from './models/memory-estimate.ts';
import {
  CatalogueModel,
  Checked,
  ExternalModel,
  FoundModel,
  ModelDetails,
  RemoteModel,
  Removed,
  SourceId,
} from './models/models.ts';
import { NetworkLogEntry } from './models/network-log.ts';
import { qualityCalls } from './models/quality.ts';
import { remoteEngineCalls } from './models/remote-engines.ts';
import { shrinkCalls } from './models/shrinking.ts';
import { trialCalls } from './models/trial.ts';
import { serverCalls } from './server.ts';
import { Settings, SettingsPatch } from './settings.ts';

/** One row of the table: request and response. */
export type Call = { readonly request: z.ZodType; readonly response: z.ZodType };

const nothing = z.void();
const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});

/** A message and the answer that was started for it. While the message waits in the queue there is no answer yet:
 *  `turnId` is null and `messageId` is the waiting message itself. */
const Started = z.object({ userMessageId: MessageId.nullable(), messageId: MessageId, turnId: TurnId.nullable() });

/** The oldest `turns` questions with their answers, the last of them being `upTo`. `seconds`: time to write the summary,
 *  if the speed is known. */
const TrimOption = z.object({
  upTo: MessageId,
  turns: z.number().int(),
  frees: z.number().int(),
  seconds: z.number().nullable(),
});

/** Every call that the renderer (and any other client) can make to the core. The preload API, the WebSocket, the dispatcher
 *  and the test fakes are derived from this table; a missing handler is a type error. */
export const calls = {
  'app.info': call(
    nothing,
    z.object({
      version: z.string(),
      commit: z.string(),
      platform: z.string(),
      shell: z.enum(['electron', 'browser']),
      dataFolder: z.string(),
      /** Sent once after a repair at start (database restored from a backup, ...). */
      notices: z.array(Notice),
    }),
  ),

  'chats.list': call(
    z.object({ limit: z.number().int().min(1).max(500).default(200), before: z.number().optional() }),
    z.array(Chat),
  ),
  'chats.search': call(
    z.object({ query: z.string().max(1000), limit: z.number().int().min(1).max(200).default(50) }),
    z.array(SearchHit),
  ),
  'chats.create': call(z.object({ modelId: ModelId.nullable().default(null) }), Chat),
  /** All messages of the tree, parents before children. */
  'chats.get': call(z.object({ chatId: ChatId }), z.object({ chat: Chat, messages: z.array(Message) })),
  'chats.update': call(
    z.object({
      chatId: ChatId,
      title: z.string().max(500).optional(),
      pinned: z.boolean().optional(),
      modelId: ModelId.nullable().optional(),
      systemPrompt: z.string().optional(),
      sampling: SamplingSettings.optional(),
      thinking: z.boolean().nullable().optional(),
      loopGuard: z.boolean().optional(),
      collectionIds: z.array(CollectionId).max(100).optional(),
      tools: ToolNames.nullable().optional(),
      passagesTo: RemoteEngineId.nullable().optional(),
      draft: z.string().optional(),
    }),
    Chat,
  ),
  'chats.delete': call(z.object({ chatId: ChatId }), nothing),
  /** Undoes a delete while the chat is still in the trash. */
  'chats.restore': call(z.object({ chatId: ChatId }), Chat),
  /** Selects another version of a message, with the newest branch below it. */
  'chats.selectBranch': call(z.object({ messageId: MessageId }), Chat),

  /** Appends a message to the selected branch, or to `parentId` as a new branch, and answers it; while a turn of this
   *  chat runs it is queued. Sent while a turn is paused, or with `now`, it ends that turn and goes before
   *  the queue. `unattended`: nobody watches this answer, so the loop detector does not wait for a decision. */
  'turns.send': call(
    z.object({
      chatId: ChatId,
      text: z.string(),
      attachments: z.array(AttachmentId).default([]),
      now: z.boolean().default(false),
      unattended: z.boolean().default(false),
      parentId: MessageId.optional(),
    }),
    Started,
  ),
  /** A new version of a user message, answered on a new branch. */
  'turns.editAndResend': call(z.object({ messageId: MessageId, text: z.string() }), Started),
  /** Corrects an answer by hand: a new version, not generated. */
  'turns.editAnswer': call(z.object({ messageId: MessageId, text: z.string() }), Message),
  /** A new version of an answer. `closest`: from the closest passage, although no match was confident; `without`: as
   *  if the chat had no documents. */
  'turns.regenerate': call(
    z.object({ messageId: MessageId, documents: z.enum(['search', 'closest', 'without']).default('search') }),
    Started,
  ),
  /** Continues an answer that was stopped, cut off or lost, in the same message. */
  'turns.continue': call(z.object({ messageId: MessageId }), Started),
  /** A new version of an answer up to a call, which runs again; the model continues from its result. */
  'turns.runToolAgain': call(z.object({ messageId: MessageId, useId: ToolUseId }), Started),
  /** Consent for a waiting call: once, for this chat, always, or denied. */
  'turns.decideTool': call(z.object({ turnId: TurnId, useId: ToolUseId, choice: ToolChoice }), nothing),
  'turns.cancel': call(z.object({ turnId: TurnId }), nothing),
  /** Closes the thinking of a running turn and answers. */
  'turns.skipThinking': call(z.object({ turnId: TurnId }), nothing),
  /** The user is looking at the card of a paused turn: from now on it waits for a decision without a time limit. */
  'turns.cancelAutoDecision': call(z.object({ turnId: TurnId }), nothing),
  'turns.decide': call(z.object({ turnId: TurnId, choice: PauseAction }), nothing),
  /** Removes a queued message, or changes its text. */
  'turns.editQueued': call(z.object({ messageId: MessageId, text: z.string().nullable() }), nothing),
  /** Moves a waiting message one place to the front of the queue or to its end. */
  'turns.moveQueued': call(z.object({ messageId: MessageId, by: z.literal([-1, 1]) }), nothing),
  /** Sends a queued message now, in an idle chat: after a failure or a restart nothing is sent automatically. */
  'turns.sendQueued': call(z.object({ messageId: MessageId }), nothing),
  'turns.samples': call(z.object({ messageId: MessageId }), z.array(StatsSample)),

  /** Tokens the next prompt would have, including the draft. `limit` is 0 while no model is loaded. */
  'context.measure': call(
    z.object({
      chatId: ChatId,
      draft: z.string(),
      attachments: z.array(AttachmentId).default([]),
      parentId: MessageId.optional(),
    }),
    z.object({ used: z.number().int(), draft: z.number().int(), limit: z.number().int() }),
  ),

  /** Ways to make room for that prompt: how many of the oldest turns to exclude or summarise. Null if that
   *  frees too little. */
  'context.overflowOptions': call(
    z.object({
      chatId: ChatId,
      draft: z.string(),
      attachments: z.array(AttachmentId).default([]),
      parentId: MessageId.optional(),
    }),
    z.object({ trim: TrimOption.nullable(), summary: TrimOption.nullable() }),
  ),
  /** Excludes this message and all before it from the prompt. Reversible. */
  'context.exclude': call(z.object({ messageId: MessageId, summary: z.string().min(1).nullable() }), Message),
  'context.include': call(z.object({ messageId: MessageId }), Message),
  /** Has the model summarise everything up to a message; the text is streamed as `context.summary` and changes nothing yet. */
  'context.summarise': call(z.object({ messageId: MessageId }), z.object({ text: z.string() })),
  'context.stopSummary': call(z.object({ messageId: MessageId }), nothing),

  /** A picture, or a file as text. In the browser its bytes were uploaded first and `path` is the upload's name. */
  'attachments.add': call(z.object({ chatId: ChatId, path: z.string(), name: z.string() }), Attachment),
  /** Moves attachments in the composer from one chat to another. */
  'attachments.move': call(z.object({ attachmentIds: z.array(AttachmentId), chatId: ChatId }), nothing),
  'attachments.remove': call(z.object({ attachmentId: AttachmentId }), nothing),
  /** A picture as WebP in base64, at most `edge` pixels a side. */
  'attachments.preview': call(
    z.object({ attachmentId: AttachmentId, edge: z.number().int().min(16).max(4096) }),
    z.object({ webp: z.string() }),
  ),
  /** The text of an attachment in the composer, for alternatives to sending it whole. */
  'attachments.text': call(z.object({ attachmentId: AttachmentId }), z.object({ name: z.string(), text: z.string() })),

  'models.list': call(nothing, z.array(ModelEntry)),
  /** Inspects a file or folder named by the user and adds it to the library if it is supported. */
  'models.import': call(z.object({ path: z.string().min(1) }), ModelEntry),
  'models.inspect': call(z.object({ path: z.string().min(1) }), ModelDescription),
  /** Settings of one model; omitted ones are reset. A template that cannot be rendered is refused. */
  'models.configure': call(z.object({ modelId: ModelId, settings: ModelSettings }), ModelEntry),
  /** A copy of the entry with the same files, but its own name and settings. */
  'models.duplicate': call(z.object({ modelId: ModelId, name: z.string().min(1).max(200) }), ModelEntry),
  /** Renders a short conversation; `template` null: the model's own. */
  'models.preview': call(
    z.object({ modelId: ModelId, template: z.string().min(1).max(200_000).nullable() }),
    z.object({ own: z.string().nullable(), text: z.string() }),
  ),
  'models.load': call(z.object({ modelId: ModelId }), nothing),
  /** Cancels the load in progress, if any. */
  'models.cancelLoad': call(nothing, nothing),
  'models.unload': call(nothing, nothing),

  /** Origin of its files, when they were last verified, and what removing it would free. */
  'models.details': call(z.object({ modelId: ModelId }), ModelDetails),
  /** Removes a model from the library. Files that Longhand downloaded are deleted; external files are only unlinked. */
  'models.remove': call(z.object({ modelId: ModelId }), Removed),
  /** Undoes a removal while its files are in the trash. */
  'models.restore': call(z.object({ modelId: ModelId }), ModelEntry),
  /** Hashes the files again; progress comes as `model.checking`. */
  'models.verify': call(z.object({ modelId: ModelId }), Checked),
  /** Downloads damaged files again. */
  'models.repair': call(z.object({ modelId: ModelId }), Download),
  /** Models of other programs on this computer. */
  'models.listExternal': call(nothing, z.array(ExternalModel)),
  /** Adds such a model to the library without copying it. */
  'models.linkExternal': call(z.object({ path: z.string().min(1) }), ModelEntry),

  /** Size of the cache of packed weights. */
  'weightCache.size': call(nothing, z.object({ bytes: z.number().int(), models: z.number().int() })),
  /** Clears it. A model that is loaded from it is unaffected. */
  'weightCache.clear': call(nothing, z.object({ freed: z.number().int() })),

  'library.state': call(nothing, Library),
  /** Plans a move of the library to this folder. Changes nothing. */
  'library.plan': call(z.object({ folder: z.string().min(1).max(4096) }), LibraryPlan),
  /** Starts the move; progress comes as `library.changed`. */
  'library.move': call(z.object({ folder: z.string().min(1).max(4096) }), nothing),
  'library.pause': call(nothing, nothing),
  'library.resume': call(nothing, nothing),
  /** Cancels the move; after the switch: keeps what is still at the old location. */
  'library.cancel': call(nothing, nothing),

  /** The catalogue that ships with the app; no network request. */
  'catalogue.list': call(nothing, z.array(CatalogueModel)),
  /** Searches the chosen source over the network. */
  'models.search': call(
    z.object({
      text: z.string().max(200),
      source: SourceId.optional(),
      limit: z.number().int().min(1).max(100).default(30),
      /** Include models that do not run here. */
      all: z.boolean().default(false),
    }),
    z.array(FoundModel),
  ),
  /** Reads the headers behind a name, a page or a URL over the network. `variant` gets the exact forecast. */
  'models.inspectRemote': call(
    z.object({ reference: z.string().min(1).max(2000), variant: z.string().optional() }),
    RemoteModel,
  ),
  'models.machine': call(nothing, Machine),

  'downloads.list': call(nothing, z.array(Download)),
  /** `reference` and `variant` as in `models.inspectRemote`. */
  'downloads.start': call(
    z.object({
      reference: z.string().min(1).max(2000),
      variant: z.string().optional(),
      name: z.string().max(200).optional(),
    }),
    Download,
  ),
  'downloads.pause': call(z.object({ downloadId: z.string() }), nothing),
  'downloads.resume': call(z.object({ downloadId: z.string() }), nothing),
  'downloads.cancel': call(z.object({ downloadId: z.string() }), nothing),
  /** A file changed on the server: discards what was downloaded of it and downloads the new one. */
  'downloads.update': call(z.object({ downloadId: z.string() }), nothing),
  /** Moves it in the queue; 0 is next. */
  'downloads.move': call(z.object({ downloadId: z.string(), place: z.number().int().min(0) }), nothing),

  /** Which sources have a token, and where tokens are stored. The token itself is never returned. */
  'tokens.list': call(nothing, z.object({ sources: z.array(SourceId), storedIn: z.enum(['keychain', 'file']) })),
  'tokens.set': call(z.object({ source: SourceId, token: z.string().max(500).nullable() }), nothing),

  /** Hosts contacted in the last ninety days, and refused requests, newest first. */
  'privacy.networkLog': call(nothing, z.array(NetworkLogEntry)),
  /** The page's content security policy blocked an address. */
  'privacy.reportBlocked': call(z.object({ address: z.string().max(4000) }), nothing),

  'engine.status': call(nothing, EngineStatus),
  'engine.devices': call(nothing, z.array(Device)),
  'engine.restart': call(nothing, nothing),
  /** Null while no model is loaded. */
  'engine.promptCache': call(nothing, PromptCacheUse.nullable()),
  'engine.clearPromptCache': call(nothing, nothing),

  /** Measured answers and benchmark runs, newest first. */
  'metrics.runs': call(z.object({ limit: z.number().int().min(1).max(20_000).default(5000) }), z.array(Run)),
  /** All runs as CSV. */
  'metrics.export': call(nothing, z.string()),
  /** Benchmarks one model, or two interleaved. Progress comes as `benchmark`, runs as `run.added`. */
  'benchmark.start': call(z.object({ modelIds: z.array(ModelId).min(1).max(2) }), nothing),
  'benchmark.cancel': call(nothing, nothing),
  /** Checked before a benchmark; one that is run all the same is marked as disturbed. */
  'benchmark.conditions': call(nothing, Conditions),
  'benchmark.state': call(nothing, BenchmarkState),

  ...documentCalls,
  ...serverCalls,
  ...toolCalls,
  ...mcpCalls,
  ...remoteEngineCalls,
  ...shrinkCalls,
  ...trialCalls,
  ...qualityCalls,

  'settings.get': call(nothing, Settings),
  'settings.set': call(SettingsPatch, Settings),
} as const satisfies Record<string, Call>;

export type Calls = typeof calls;
export type CallName = keyof Calls;
/** A request as the caller writes it (defaults may be omitted). */
export type RequestInput<Name extends CallName> = z.input<Calls[Name]['request']>;
export type Request<Name extends CallName> = z.output<Calls[Name]['request']>;
export type Response<Name extends CallName> = z.output<Calls[Name]['response']>;
