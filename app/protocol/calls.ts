import { z } from 'zod';
import { Attachment } from './chat/attachment.ts';
import { Chat, Message, SamplingSettings, SearchHit } from './chat/chat.ts';
import { ToolChoice, ToolNames, toolCalls } from './chat/tools.ts';
import { PauseAction, StatsSample } from './chat/turn.ts';
import { documentCalls } from './documents.ts';
import { Notice } from './events.ts';
import { AttachmentId, ChatId, CollectionId, ElsewhereId, MessageId, ModelId, ToolUseId, TurnId } from './ids.ts';
import { mcpCalls } from './mcp.ts';
import { BenchmarkState, Conditions, Run } from './metrics.ts';
import { Download } from './models/downloads.ts';
import { elsewhereCalls } from './models/elsewhere.ts';
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
import { serverCalls } from './server.ts';
import { Settings, SettingsPatch } from './settings.ts';

/** One row of the table: what goes in, what comes out. */
export type Call = { readonly request: z.ZodType; readonly response: z.ZodType };

const nothing = z.void();
const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});

/** A message and the answer that was started for it. While the message waits in the queue there is no answer yet:
 *  `turnId` is null and `messageId` is the waiting message itself. */
const Started = z.object({ userMessageId: MessageId.nullable(), messageId: MessageId, turnId: TurnId.nullable() });

/** The oldest `turns` questions with their answers, the last of them being `upTo`. `seconds`: how long writing the summary
 *  takes, as far as the speed is known. */
const TrimOption = z.object({
  upTo: MessageId,
  turns: z.number().int(),
  frees: z.number().int(),
  seconds: z.number().nullable(),
});

/** Every question the renderer (and any other client) can ask the core. The preload API, the WebSocket, the dispatcher
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
      /** Said once after something was repaired at start (database restored from a backup, ...). */
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
      passagesTo: ElsewhereId.nullable().optional(),
      draft: z.string().optional(),
    }),
    Chat,
  ),
  'chats.delete': call(z.object({ chatId: ChatId }), nothing),
  /** Undo of a delete, within the time that deleted chats are kept. */
  'chats.restore': call(z.object({ chatId: ChatId }), Chat),
  /** Shows another version of a message, with the newest branch below it. */
  'chats.selectBranch': call(z.object({ messageId: MessageId }), Chat),

  /** Appends a message to the shown branch, or to `parentId` as a branch of its own, and answers it; while a turn of this
   *  chat runs it waits in the queue. One that is sent while a turn is paused, or with `now`, ends that turn and goes before
   *  all that wait. `unattended`: nobody watches this answer, so the loop guard does not wait for a decision. */
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
  /** A new version of an answer. `closest`: from the passage that came closest, though nothing was sure enough; `without`: as
   *  if the chat had no documents. */
  'turns.regenerate': call(
    z.object({ messageId: MessageId, documents: z.enum(['search', 'closest', 'without']).default('search') }),
    Started,
  ),
  /** Goes on writing an answer that was stopped, cut or lost; in the same message. */
  'turns.continue': call(z.object({ messageId: MessageId }), Started),
  /** A new version of an answer up to a call, which is made once more; from its result on the model goes on. */
  'turns.runToolAgain': call(z.object({ messageId: MessageId, useId: ToolUseId }), Started),
  /** What a call may that waits for a word: run once, run without asking in this chat or always, or not at all. */
  'turns.decideTool': call(z.object({ turnId: TurnId, useId: ToolUseId, choice: ToolChoice }), nothing),
  'turns.cancel': call(z.object({ turnId: TurnId }), nothing),
  /** Closes the thinking of a running turn and answers. */
  'turns.skipThinking': call(z.object({ turnId: TurnId }), nothing),
  /** The user looks at the card of a paused turn: it waits for a decision from now on, however long that takes. */
  'turns.cancelAutoDecision': call(z.object({ turnId: TurnId }), nothing),
  'turns.decide': call(z.object({ turnId: TurnId, choice: PauseAction }), nothing),
  /** Takes a waiting message out of the queue, or changes its text. */
  'turns.editQueued': call(z.object({ messageId: MessageId, text: z.string().nullable() }), nothing),
  /** Moves a waiting message one place to the front of the queue or to its end. */
  'turns.moveQueued': call(z.object({ messageId: MessageId, by: z.literal([-1, 1]) }), nothing),
  /** Sends a waiting message now, in a chat where nothing is written: after a failure or a restart nothing goes by itself. */
  'turns.sendQueued': call(z.object({ messageId: MessageId }), nothing),
  'turns.samples': call(z.object({ messageId: MessageId }), z.array(StatsSample)),

  /** Tokens the next prompt would have, with the draft. `limit` is 0 while no model is in memory. */
  'context.measure': call(
    z.object({
      chatId: ChatId,
      draft: z.string(),
      attachments: z.array(AttachmentId).default([]),
      parentId: MessageId.optional(),
    }),
    z.object({ used: z.number().int(), draft: z.number().int(), limit: z.number().int() }),
  ),

  /** What would make room for that prompt: how far the oldest turns have to be left out, or summarised. Null where that
   *  makes too little. */
  'context.overflowOptions': call(
    z.object({
      chatId: ChatId,
      draft: z.string(),
      attachments: z.array(AttachmentId).default([]),
      parentId: MessageId.optional(),
    }),
    z.object({ trim: TrimOption.nullable(), summary: TrimOption.nullable() }),
  ),
  /** Keeps this message and all before it from the model. Reversible. */
  'context.exclude': call(z.object({ messageId: MessageId, summary: z.string().min(1).nullable() }), Message),
  'context.include': call(z.object({ messageId: MessageId }), Message),
  /** Lets the model summarise everything up to a message; what is written comes as `context.summary`, and changes nothing. */
  'context.summarise': call(z.object({ messageId: MessageId }), z.object({ text: z.string() })),
  'context.stopSummary': call(z.object({ messageId: MessageId }), nothing),

  /** A picture, or a file as text. In the browser its bytes were uploaded first and `path` is the upload's name. */
  'attachments.add': call(z.object({ chatId: ChatId, path: z.string(), name: z.string() }), Attachment),
  /** Takes files that wait in the composer of one chat to another. */
  'attachments.move': call(z.object({ attachmentIds: z.array(AttachmentId), chatId: ChatId }), nothing),
  'attachments.remove': call(z.object({ attachmentId: AttachmentId }), nothing),
  /** A picture as WebP in base64, at most `edge` pixels a side. */
  'attachments.preview': call(
    z.object({ attachmentId: AttachmentId, edge: z.number().int().min(16).max(4096) }),
    z.object({ webp: z.string() }),
  ),
  /** What a file in the composer says, for what can be done with it instead of sending it whole. */
  'attachments.text': call(z.object({ attachmentId: AttachmentId }), z.object({ name: z.string(), text: z.string() })),

  'models.list': call(nothing, z.array(ModelEntry)),
  /** Looks at a file or folder the user named, and puts it in the list when it can be run. */
  'models.import': call(z.object({ path: z.string().min(1) }), ModelEntry),
  'models.inspect': call(z.object({ path: z.string().min(1) }), ModelDescription),
  /** What is set for one model; what is left out is set back. A template that cannot be rendered is refused. */
  'models.configure': call(z.object({ modelId: ModelId, settings: ModelSettings }), ModelEntry),
  /** The same files under another name, with settings of their own. */
  'models.duplicate': call(z.object({ modelId: ModelId, name: z.string().min(1).max(200) }), ModelEntry),
  /** A short conversation as the model would get it; null for `template` is the model's own. */
  'models.preview': call(
    z.object({ modelId: ModelId, template: z.string().min(1).max(200_000).nullable() }),
    z.object({ own: z.string().nullable(), text: z.string() }),
  ),
  'models.load': call(z.object({ modelId: ModelId }), nothing),
  /** Ends the load that is in progress, if there is one. */
  'models.cancelLoad': call(nothing, nothing),
  'models.unload': call(nothing, nothing),

  /** Where its files come from, when they were last checked, what removing it would free. */
  'models.details': call(z.object({ modelId: ModelId }), ModelDetails),
  /** Takes a model out of the list. Files that Longhand fetched go with it; files of others are only unlinked. */
  'models.remove': call(z.object({ modelId: ModelId }), Removed),
  /** Undo of a removal, while its files are kept. */
  'models.restore': call(z.object({ modelId: ModelId }), ModelEntry),
  /** Hashes the files again; progress comes as `model.checking`. */
  'models.verify': call(z.object({ modelId: ModelId }), Checked),
  /** Fetches the damaged files again. */
  'models.repair': call(z.object({ modelId: ModelId }), Download),
  /** Models that other programs keep on this computer. */
  'models.listExternal': call(nothing, z.array(ExternalModel)),
  /** Puts such a model in the list without copying it. */
  'models.linkExternal': call(z.object({ path: z.string().min(1) }), ModelEntry),

  /** What packed weights take that are kept for the next load. */
  'weightCache.size': call(nothing, z.object({ bytes: z.number().int(), models: z.number().int() })),
  /** Deletes them. A model that is loaded from them goes on. */
  'weightCache.clear': call(nothing, z.object({ freed: z.number().int() })),

  'library.state': call(nothing, Library),
  /** What moving the library there would take. Changes nothing. */
  'library.plan': call(z.object({ folder: z.string().min(1).max(4096) }), LibraryPlan),
  /** Begins to move it; progress comes as `library.changed`. */
  'library.move': call(z.object({ folder: z.string().min(1).max(4096) }), nothing),
  'library.pause': call(nothing, nothing),
  'library.resume': call(nothing, nothing),
  /** Leaves it where it was; after the switch: leaves what is still at the old place. */
  'library.cancel': call(nothing, nothing),

  /** What ships with the app; asks nobody. */
  'catalogue.list': call(nothing, z.array(CatalogueModel)),
  /** Asks the chosen source over the network. */
  'models.search': call(
    z.object({
      text: z.string().max(200),
      source: SourceId.optional(),
      limit: z.number().int().min(1).max(100).default(30),
      /** Also what does not run here. */
      all: z.boolean().default(false),
    }),
    z.array(FoundModel),
  ),
  /** Reads the headers behind a name, a page or an address over the network. `variant` has the exact verdict. */
  'models.inspectRemote': call(
    z.object({ reference: z.string().min(1).max(2000), variant: z.string().optional() }),
    RemoteModel,
  ),
  'models.machine': call(nothing, Machine),

  'downloads.list': call(nothing, z.array(Download)),
  /** `reference` and `variant` as `models.inspectRemote` took and gave them. */
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
  /** A file changed on the server: what came of it is given up, and the new one is fetched. */
  'downloads.update': call(z.object({ downloadId: z.string() }), nothing),
  /** To a place in the list; 0 is next. */
  'downloads.move': call(z.object({ downloadId: z.string(), place: z.number().int().min(0) }), nothing),

  /** Which sources have a token, and where tokens are kept. A token itself never comes back. */
  'tokens.list': call(nothing, z.object({ sources: z.array(SourceId), storedIn: z.enum(['keychain', 'file']) })),
  'tokens.set': call(z.object({ source: SourceId, token: z.string().max(500).nullable() }), nothing),

  /** Whom Longhand spoke to in the last ninety days and what it refused, newest first. */
  'privacy.networkLog': call(nothing, z.array(NetworkLogEntry)),
  /** The policy of the page refused to let it reach an address. */
  'privacy.reportBlocked': call(z.object({ address: z.string().max(4000) }), nothing),

  'engine.status': call(nothing, EngineStatus),
  'engine.devices': call(nothing, z.array(Device)),
  'engine.restart': call(nothing, nothing),
  /** Null while no model is in memory. */
  'engine.promptCache': call(nothing, PromptCacheUse.nullable()),
  'engine.clearPromptCache': call(nothing, nothing),

  /** Measured answers and benchmark runs, newest first. */
  'metrics.runs': call(z.object({ limit: z.number().int().min(1).max(20_000).default(5000) }), z.array(Run)),
  /** All of them as CSV. */
  'metrics.export': call(nothing, z.string()),
  /** One model, or two in turns. Its progress comes as `benchmark`, its runs as `run.added`. */
  'benchmark.start': call(z.object({ modelIds: z.array(ModelId).min(1).max(2) }), nothing),
  'benchmark.cancel': call(nothing, nothing),
  /** Asked before a benchmark; one that is run all the same is marked as disturbed. */
  'benchmark.conditions': call(nothing, Conditions),
  'benchmark.state': call(nothing, BenchmarkState),

  ...documentCalls,
  ...serverCalls,
  ...toolCalls,
  ...mcpCalls,
  ...elsewhereCalls,

  'settings.get': call(nothing, Settings),
  'settings.set': call(SettingsPatch, Settings),
} as const satisfies Record<string, Call>;

export type Calls = typeof calls;
export type CallName = keyof Calls;
/** As the caller writes it (defaults may be left out). */
export type RequestInput<Name extends CallName> = z.input<Calls[Name]['request']>;
export type Request<Name extends CallName> = z.output<Calls[Name]['request']>;
export type Response<Name extends CallName> = z.output<Calls[Name]['response']>;
