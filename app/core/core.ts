import { join } from 'node:path';
import { attachFile } from '../chat/attachments.ts';
import {
  createSummaries,
  excludeFromContext,
  includeInContext,
  overflowOptions,
} from '../chat/context/context-trimming.ts';
import { measureContext } from '../chat/context/context-usage.ts';
import type { ChatDeps } from '../chat/deps.ts';
import { createPictureStore } from '../chat/pictures.ts';
import { createWrittenAnswers } from '../chat/prompt/written-answers.ts';
import { createTitles } from '../chat/titles.ts';
import { createTurnManager } from '../chat/turns/turn-manager.ts';
import type { StartParser } from '../documents/parse/fork-parser.ts';
import { createDocuments } from '../documents/service.ts';
import { createEngine, type EngineOptions } from '../engine/client/engine-client.ts';
import { createGenerationService } from '../engine/client/generation-service.ts';
import type { StartEngine } from '../engine/ipc-protocol.ts';
import { createMetrics } from '../metrics/service.ts';
import { createModelService, type ModelServiceOptions, type ModelTuning } from '../models/model-service.ts';
import { createPromptCacheControl } from '../models/registry/prompt-cache-control.ts';
import { createPromptCacheFiles } from '../models/storage/prompt-cache-files.ts';
import { createPromptCacheKey } from '../models/storage/prompt-cache-key.ts';
import {
  builtInEmbedder,
  type ClientFrame,
  type CoreFrame,
  createSwitchboard,
  type DownloadNotification,
  type EngineStatus,
  type EventName,
  type EventPayload,
  guarded,
  type Handlers,
  type Message,
  type Notice,
  type Pipe,
  type Response,
  type Switchboard,
} from '../protocol/index.ts';
import { moveAttachments, pictureOf, removeAttachment, textWaiting } from '../store/chats/attachments.ts';
import { purgeDeleted } from '../store/chats/chats.ts';
import { createEraser } from '../store/database/erase.ts';
import { newId } from '../store/database/uuid.ts';
import { createSaving } from '../store/folder/save-notices.ts';
import type { Reach } from '../store/lock.ts';
import { readSettings, writeSettings } from '../store/settings.ts';
import { openStore } from '../store/store.ts';
import { createBenchmarkAsker } from './benchmark-asker.ts';
import { chatHandlers } from './chat-handlers.ts';
import type { Inference } from './inference.ts';
import { builtInModels } from './served-models.ts';
import { createServerControl, type StartServer } from './server-control.ts';
import { createToolService } from './tool-service.ts';
import { createTrial } from './trial.ts';
import { turnHandlers } from './turn-handlers.ts';
import { startUpkeep } from './upkeep.ts';

export type CoreOptions = {
  dataFolder: string;
  /** Folders that ship with the app. */
  migrations: string;
  resources: string;
  startEngine: StartEngine;
  startParser: StartParser;
  /** Entry file of the process that decodes pictures. */
  pictureWorker: string;
  /** Entry file of the worker that runs JavaScript for models; without it there is no such tool. */
  sandbox?: string;
  /** Without it the core has no server for other programs. */
  startServer?: StartServer;
  /** Encrypts secrets with the system's keychain, if the shell has one. */
  cipher?: ModelServiceOptions['cipher'];
  /** False for a core of a single command: it loads no model until asked to. */
  preload?: boolean;
  about: Pick<Response<'app.info'>, 'version' | 'commit' | 'shell'>;
  models?: ModelTuning;
  heartbeat?: EngineOptions['heartbeat'];
  now?: () => number;
};

/** All services, assembled once. The Electron shell, the browser host, the command line and the tests use this. */
export type Core = {
  connect(pipe: Pipe<CoreFrame, ClientFrame>): void;
  handlers: Handlers;
  /** The models for other programs. */
  inference: Inference;
  dataFolder: string;
  /** Publishes the address of this core for other processes that want the same data folder. */
  announce(reach: Reach): void;
  /** Sends a notice to every client. */
  notice(notice: Notice): void;
  /** Records a request that the local server refused; shown on the Privacy page. */
  refusedVisitor(visitor: { host: string; about: string }): void;
  /** Reports whether an answer is being written: the machine should not sleep then. */
  onBusy(listener: (busy: boolean) => void): void;
  /** Reports downloads that are complete or need attention. */
  onDownload(listener: (news: DownloadNotification) => void): void;
  close(): Promise<void>;
};

/** @throws LonghandError as `openStore`, and database errors while the services start. Then nothing is left running
 *  and the data folder is free. */
export async function createCore(options: CoreOptions): Promise<Core> {
  const opened = new AsyncDisposableStack();
  try {
    return await assemble(options, opened);
  } catch (error) {
    await opened.disposeAsync().catch(() => {}); // the error at the start is the more useful one
    throw error;
  }
}

/** Everything that must be closed is pushed onto `opened` as soon as it exists. It is closed in reverse order, each even
 *  if another fails to close. */
async function assemble(options: CoreOptions, opened: AsyncDisposableStack): Promise<Core> {
  const now = options.now ?? Date.now;
  const store = await openStore({ folder: options.dataFolder, migrations: options.migrations, now });
  opened.defer(store.close);
  const { db } = store;

  let settings = readSettings(db);
  const busyListeners: ((busy: boolean) => void)[] = [];
  // No client can listen while the services start.
  let clients: Switchboard | null = null;
  const emit = <Name extends EventName>(name: Name, payload: EventPayload<Name>) => clients?.emit(name, payload);
  opened.defer(() => clients?.close());
  const saving = createSaving((said) => emit('notice', said));
  const { report } = saving;
  const statusListeners: ((status: EngineStatus) => void)[] = [];
  const engine = createEngine({
    startEngine: options.startEngine,
    report,
    ...(options.heartbeat && { heartbeat: options.heartbeat }),
    onStatus(status) {
      for (const listener of statusListeners) listener(status);
    },
  });
  opened.defer(engine.close);
  const prompts = createPromptCacheFiles(db, join(store.folder, 'prompts'));
  const promptKey = createPromptCacheKey(join(store.folder, 'prompts.key'), options.cipher ?? null);
  const promptCache = createPromptCacheControl({
    db,
    engine,
    files: prompts,
    key: promptKey,
    settings: () => settings,
    now,
  });
  const manager = createModelService({
    db,
    engine,
    emit,
    settings: () => settings,
    dataFolder: store.folder,
    promptDisk: promptCache.disk,
    resources: options.resources,
    cipher: options.cipher ?? null,
    now,
    report,
    ...options.models,
  });
  opened.defer(manager.close);
  statusListeners.push(manager.engineStatus);
  const models = manager.library;
  const notice = (said: Notice) => {
    if (said.code === 'request-blocked') manager.refusedPage(said.details.address ?? '');
    emit('notice', said);
  };
  const metrics = createMetrics({
    db,
    emit,
    engine: options.about.version,
    now,
    newId: () => newId(now()),
    ask: createBenchmarkAsker({ engine, models, now, report }),
  });
  opened.defer(metrics.close);
  const eraser = createEraser(store);
  /** On failure, retried in an hour. */
  const erase = () => eraser.run().catch(() => {});
  opened.defer(() => eraser.close());
  const embeds = process.env.LONGHAND_EMBEDDING !== 'off';
  const encoder = () => {
    const { device, threads } = settings;
    return { path: join(options.resources, 'encoder'), device, threads };
  };
  const documents = createDocuments({
    db,
    emit,
    engine,
    embedders: {
      find: (modelId) => {
        if (modelId !== builtInEmbedder.id) return models.embedder(modelId);
        return { target: encoder(), name: builtInEmbedder.name };
      },
      preset: embeds ? builtInEmbedder.id : null,
      reranker: models.reranker,
      qaReranker: join(options.resources, 'reader'),
    },
    dataFolder: store.folder,
    startParser: options.startParser,
    // On other systems every picture would be sent only to learn that there is no OCR.
    recognise: process.platform === 'darwin' ? (picture) => engine.ask('recognise', { picture }) : null,
    purged: erase,
    help: options.preload === false ? null : join(options.resources, 'help'),
    now,
    report,
  });
  opened.defer(documents.close);
  const writtenAnswers = createWrittenAnswers(join(options.resources, 'assistant'), async (texts) => {
    if (!embeds) return [];
    const { vectors } = await engine.ask('embed', { target: encoder(), texts, kind: 'query', urgent: true });
    return vectors;
  });
  const pictures = createPictureStore(db, { folder: join(store.folder, 'pictures'), worker: options.pictureWorker });
  opened.defer(pictures.close);
  /** The local engine and remote ones; requests other than chat answers go to the local one. */
  const generation = createGenerationService({ local: engine, reach: manager.reach, urlOf: pictures.urlOf, report });
  opened.defer(generation.close);
  const shared = { db, engine: generation, emit, now, report };
  const tools = createToolService({
    ...shared,
    models,
    documents: documents.handlers,
    sandbox: options.sandbox ?? null,
    startParser: options.startParser,
    cipher: options.cipher ?? null,
    via: manager.via,
    version: options.about.version,
  });
  opened.defer(tools.close);
  const core: ChatDeps = {
    db,
    engine: generation,
    emit,
    saving,
    settings: () => settings,
    models,
    answering: documents.answering,
    writtenAnswers,
    tools: tools.toolbox,
    pictures,
    measured: metrics.measured,
    now,
  };
  const turns = createTurnManager(core, {
    onAnswered: (chatId) => titles.want(chatId),
    onBusy: (busy) => {
      for (const listener of busyListeners) listener(busy);
    },
  });
  opened.defer(turns.close);
  /** Adds the chats that are being answered, which others wait for. */
  const withChat = (status: EngineStatus): EngineStatus => {
    if (status.phase !== 'busy') return status;
    const writing = status.writing.map(({ turnId }) => {
      const chatId = turns.chatOf(turnId);
      return chatId ? { turnId, chatId } : { turnId };
    });
    return { ...status, writing };
  };
  statusListeners.push((status) => emit('engine.status', withChat(status)));
  const titles = createTitles(core, turns.busy);
  opened.defer(titles.close);
  const summaries = createSummaries(core);
  const trial = createTrial({ engine, models, emit, now, report });
  opened.defer(trial.close);

  const server = createServerControl({
    ...shared,
    dataFolder: options.dataFolder,
    library: models,
    builtIn: builtInModels(options.resources),
    keepAlive: manager.keepAlive,
    pictures,
    start: options.startServer ?? null,
    version: options.about.version,
    settings: () => settings,
    turnedAway: manager.refusedVisitor,
    newId: () => newId(now()),
  });
  opened.defer(server.close);

  const lasting = store.notices.filter(({ code }) => code === 'read-only');
  const unsaid = store.notices.filter(({ code }) => code !== 'read-only');

  const handlers: Handlers = {
    'app.info': () => ({
      ...options.about,
      platform: process.platform,
      dataFolder: store.folder,
      // Notices of repairs are sent once; an unwritable folder is a lasting condition.
      notices: unsaid.splice(0).concat(lasting),
    }),

    ...chatHandlers(core, turns, promptCache.forget),
    ...turnHandlers(core, turns, models),

    'context.measure': (asked) => measureContext(core, asked),
    'context.overflowOptions': (asked) => overflowOptions(core, asked),
    'context.exclude': ({ messageId, summary }) => tellMessage(excludeFromContext(core, messageId, summary)),
    'context.include': ({ messageId }) => tellMessage(includeInContext(core, messageId)),
    'context.summarise': ({ messageId }) => summaries.write(messageId),
    'context.stopSummary': ({ messageId }) => summaries.stop(messageId),
    'attachments.add': (file) => attachFile(core, file),
    'attachments.move': ({ attachmentIds, chatId }) => moveAttachments(db, attachmentIds, chatId),
    'attachments.remove': ({ attachmentId }) => removeAttachment(db, attachmentId),
    'attachments.preview': async ({ attachmentId, edge }) => ({
      webp: Buffer.from(await pictures.preview(pictureOf(db, attachmentId), edge)).toString('base64'),
    }),
    'attachments.text': ({ attachmentId }) => textWaiting(db, attachmentId),

    ...manager.handlers,
    'models.load': async ({ modelId }) => {
      await models.look(modelId);
      await generation.load(models.target(modelId).target);
      models.used(modelId);
    },
    'models.cancelLoad': engine.cancelLoad,
    'models.unload': engine.unload,

    'engine.status': () => withChat(engine.status()),
    'engine.devices': () => engine.ask('devices', null),
    'engine.restart': engine.restart,
    ...promptCache.handlers,

    ...metrics.handlers,
    ...trial.handlers,
    ...documents.handlers,
    ...server.handlers,
    ...tools.handlers,

    'settings.get': () => settings,
    'settings.set': (patch) => {
      manager.checkSettings(patch);
      settings = writeSettings(db, patch);
      emit('settings.changed', settings);
      manager.settingsChanged();
      promptCache.settingsChanged(patch);
      server.settingsChanged(patch);
      return settings;
    },
  };
  const switchboard = createSwitchboard(handlers);
  clients = switchboard;

  /** Sends the message including text that is not on disk yet. */
  function tellMessage(stored: Message) {
    const message = turns.overlay(stored);
    emit('message.changed', message);
    return message;
  }

  guarded(report, models.warmUp)(options.preload ?? true);

  const upkeep = startUpkeep({
    purge: () => purgeDeleted(db, now()),
    tidy: async () => {
      await prompts.sweep();
      await pictures.sweep();
    },
    erase,
    backUp: () =>
      store.backUpDaily().catch((error) => notice({ code: 'backup-failed', details: { reason: String(error) } })),
    report,
  });
  opened.defer(upkeep.close);

  return {
    connect: switchboard.add,
    handlers,
    inference: server.inference,
    dataFolder: store.folder,
    announce: store.announce,
    notice,
    refusedVisitor: manager.refusedVisitor,
    onBusy: (listener) => void busyListeners.push(listener),
    onDownload: manager.onDownload,
    close: () => opened.disposeAsync(),
  };
}
