import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { StartConverter } from '../conversion/process/messages.ts';
import type { Engine } from '../engine/client/engine-client.ts';
import type { Timeouts } from '../engine/remote/connection.ts';
import type {
  CallName,
  Device,
  DownloadNotification,
  Emit,
  EngineStatus,
  Handlers,
  ModelEntry,
  ModelId,
  Settings,
  SettingsPatch,
} from '../protocol/index.ts';
import { deviceInUse, guarded, LonghandError, type Report } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import type { Cipher } from '../store/folder/private-file.ts';
import { downloadHandlers } from './download-handlers.ts';
import { createDownloadQueue, type DownloadQueueOptions } from './downloads/download-queue.ts';
import { createEvaluation } from './evaluation/evaluation.ts';
import { linkOf, listExternalModels } from './external/link.ts';
import { createBandwidth } from './hardware/bandwidth.ts';
import { machineFacts, memoryIsShort, memoryLimit } from './hardware/hardware.ts';
import { createIdleUnload, type KeepAlive } from './hardware/idle-unload.ts';
import { asFailure } from './network/error-mapping.ts';
import type { Network } from './network/http-request.ts';
import { certificatesIn, needMirror, needProxy, takeRoute } from './network/network-config.ts';
import { createNetworkLog, type NetworkLog } from './network/network-log.ts';
import { builtInModels } from './registry/built-in-models.ts';
import { readCatalogue } from './registry/catalogue.ts';
import { createModelLifecycle } from './registry/model-lifecycle.ts';
import { createModelRegistry, type ModelRegistry, type ModelRegistryOptions } from './registry/model-registry.ts';
import { closeLibrary } from './relocation/copy-tree.ts';
import { createRelocation, type RelocationOptions } from './relocation/relocation.ts';
import { createRemoteEngines, type RemoteEngineService } from './remote/service.ts';
import { createShrinking } from './shrinking/shrinking.ts';
import { createAccessTokens } from './sources/access-tokens.ts';
import { createRemoteInspector } from './sources/remote-inspector.ts';
import { createSourceRegistry } from './sources/source-registry.ts';
import { createAvailability, watchDrives } from './storage/availability.ts';
import { createBlobStore } from './storage/blob-store.ts';
import { createProbe, type Disk, disk as disks, type TimeoutFactory } from './storage/fs-probe.ts';
import { createLibraryLocation } from './storage/library-location.ts';
import { qualityReader } from './storage/quality-file.ts';
import { createRwLock } from './storage/rw-lock.ts';
import { createWeightCache } from './storage/weight-cache.ts';

export type ModelServiceOptions = {
  db: Database;
  engine: Engine;
  emit: Emit;
  settings: () => Settings;
  dataFolder: string;
  /** The prompt cache on disk. */
  promptDisk: ModelRegistryOptions['promptDisk'];
  /** Folders that ship with the app. */
  resources: string;
  cipher: Cipher | null;
  now: () => number;
  report: Report;
  downloads?: DownloadQueueOptions['tuning'];
  move?: RelocationOptions['tuning'];
  /** How often to check drives, how, and the time limit of each check. */
  lookMs?: number;
  disk?: Disk;
  /** Access to the network. */
  net?: Network;
  /** Timeouts for remote engines. */
  timeouts?: Timeouts;
  startTimeout?: TimeoutFactory;
  /** Without it no smaller versions of models are made. */
  startConverter?: StartConverter;
};

/** What a shell or a test may set. */
export type ModelTuning = Pick<
  ModelServiceOptions,
  'downloads' | 'move' | 'lookMs' | 'disk' | 'net' | 'startTimeout' | 'startConverter'
>;

type Owned = Extract<
  CallName,
  `${'models' | 'weightCache' | 'library' | 'catalogue' | 'downloads' | 'tokens' | 'privacy' | 'remoteEngines' | 'quality'}.${string}`
>;
/** The calls of the protocol handled here. */
type ModelHandlers = Pick<Handlers, Exclude<Owned, 'models.load' | 'models.cancelLoad' | 'models.unload'>>;

export type ModelService = {
  library: ModelRegistry;
  handlers: ModelHandlers;
  /** Validates a change of settings. @throws LonghandError if a file it names cannot be used */
  checkSettings(patch: SettingsPatch): void;
  /** Applies changed settings. */
  settingsChanged(): void;
  engineStatus(status: EngineStatus): void;
  refusedVisitor(visitor: { host: string; about: string }): void;
  refusedPage(address: string): void;
  /** The network for one purpose, logged on the Privacy page. */
  via: NetworkLog['via'];
  /** How to reach the remote engine of a model. */
  reach: RemoteEngineService['reach'];
  /** Controls how long the loaded model stays in memory. */
  keepAlive: Pick<KeepAlive, 'keepFor' | 'expiresAt'>;
  /** Reports downloads that are complete or need attention. */
  onDownload(listener: (news: DownloadNotification) => void): void;
  close(): Promise<void>;
};

const SEARCH_MS = 30_000;

/** The models service: from browsing the catalogue to the files on disk. */
export function createModelService(options: ModelServiceOptions): ModelService {
  const { db, engine, emit, settings, dataFolder, resources, now, report, disk = disks } = options;
  const probe = createProbe(options.startTimeout);
  const location = createLibraryLocation(db, join(dataFolder, 'models'), disk, probe, guarded(report, closeLibrary));
  const availability = createAvailability(location, disk, probe);
  const weightCache = createWeightCache(db, join(dataFolder, 'packed'));
  const lock = createRwLock();
  let devices: Device[] = [];
  /** Called at every start of the engine: an earlier one may have crashed before answering, and drivers may have changed. */
  const askDevices = guarded(report, async () => {
    const found = await engine.ask('devices', null).catch(() => null); // it crashed again; the next start retries
    if (!found) return;
    devices = found;
    tellMachine();
  });

  const inUse = () => {
    const status = engine.status();
    return status.phase === 'ready' || status.phase === 'busy' ? status.memoryBytes : 0;
  };
  const limit = () => memoryLimit(deviceInUse(devices, settings().device), inUse());
  const library = createModelRegistry({
    db,
    engine,
    emit,
    settings,
    memoryLimit: limit,
    location,
    availability,
    weightCache,
    promptDisk: options.promptDisk,
    disk,
    probe,
    addressInfo: (model) => remoteEngines.addressInfo(model),
    builtIn: builtInModels(resources),
    now,
  });
  const machine = async () =>
    machineFacts((await location.look()) ? location.folder() : location.home, limit(), bandwidth.known());
  const tellMachine = guarded(report, async () => emit('machine.changed', await machine()));
  const bandwidth = createBandwidth({
    db,
    engine,
    now,
    measured: tellMachine,
    report,
  });
  const tokens = createAccessTokens(join(dataFolder, 'tokens.json'), options.cipher);
  const networkLog = createNetworkLog({
    db,
    allowed: () => settings().network !== 'off',
    now,
    changed: () => emit('networkLog.changed', null),
    ...(options.net && { net: options.net }),
  });
  const remoteEngines = createRemoteEngines({
    db,
    emit,
    cipher: options.cipher,
    via: networkLog.via,
    listChanged: () => library.refresh(),
    now,
    timeouts: options.timeouts,
  });
  const sources = createSourceRegistry(settings, tokens, networkLog.via);
  const inspector = createRemoteInspector({
    sources,
    net: networkLog.via,
    verdict: (headers) => engine.ask('describe', headers),
  });
  const blobs = createBlobStore(db, location);
  const shared = { library, location, lock, emit, now, report };
  const qualityOf = qualityReader(probe);
  const start = options.startConverter ?? null;
  const evaluation = createEvaluation({
    db,
    library,
    start,
    settings,
    folder: join(dataFolder, 'evaluations'),
    emit,
    now,
    report,
  });
  const forgotten = async (modelId: ModelId) => {
    await weightCache.forget(modelId);
    await evaluation.forget(modelId);
  };
  const lifecycle = createModelLifecycle({ ...shared, blobs, forgotten, engine, qualityOf });
  const followers: ((news: DownloadNotification) => void)[] = [];
  const tellOf = (news: DownloadNotification) => {
    for (const follower of followers) follower(news);
  };
  const arrived = (model: ModelEntry) => {
    emit('download.finished', model);
    tellOf({ name: model.name, kind: 'arrived' });
  };
  const downloads = createDownloadQueue({
    db,
    blobs,
    barred: () => (location.there() ? (relocation.copying() ? 'moving' : null) : 'unmounted'),
    source: sources.byId,
    net: (about) => networkLog.via({ reason: 'download', about }),
    changed: (list) => emit('downloads.changed', list),
    stuck: tellOf,
    finished: async ({ name, path }) => arrived(await library.add(path, name)),
    now,
    ...(options.downloads && { tuning: options.downloads }),
  });
  const relocation = createRelocation({
    db,
    location,
    lock,
    changed: (state) => emit('library.changed', state),
    rest: downloads.rest,
    wake: downloads.wake,
    switched() {
      library.refresh();
      tellMachine();
    },
    letGo,
    tuning: { probe, ...options.move },
  });
  const moving = () => relocation.state().move !== null;
  const shrinking = createShrinking({ ...shared, qualityOf, moving, start });
  const drives = watchDrives({
    paths: library.linkedPaths,
    availability,
    there: location.there,
    report,
    overlooked: async () => downloads.waits() || (await relocation.waits()),
    ...(options.lookMs !== undefined && { everyMs: options.lookMs }),
    changed() {
      library.refresh();
      emit('library.changed', relocation.state());
      if (!location.there()) return void downloads.rest();
      downloads.wake();
      relocation.look();
    },
  });

  /** Reloads the loaded model from its new path, after running answers. */
  async function letGo(old: string): Promise<void> {
    const target = engine.target();
    if (!target?.path.startsWith(old + sep)) return;
    await engine.unload();
    await engine.load(library.target(target.modelId).target).catch(() => {}); // the error surfaces on its next use
  }

  let up = false;
  const keepAlive = createIdleUnload({ engine, minutes: () => settings().idleUnloadMinutes, memoryIsShort });
  const route = () => {
    downloads.limit(settings().downloadLimit);
    if (settings().network !== 'off') downloads.wake();
    try {
      takeRoute(settings());
    } catch {
      // The certificate file is gone: requests that need it will report that.
    }
  };
  route();
  blobs.discardRemoved().catch(() => {}); // retried at the next start
  weightCache.sweep().catch(() => {}); // the app was closed in the meantime

  const refusedPage = (address: string) => {
    const url = URL.parse(address);
    networkLog.refused({ host: url?.host || url?.protocol || 'unknown', reason: 'page', about: '' });
  };

  const handlers: ModelHandlers = {
    'models.list': library.list,
    'models.import': ({ path }) => library.add(path),
    'models.inspect': ({ path }) => library.inspect(path),
    'models.configure': ({ modelId, settings }) => library.configure(modelId, settings),
    'models.duplicate': ({ modelId, name }) => library.duplicate(modelId, name),
    'models.preview': ({ modelId, template }) => library.preview(modelId, template),
    'models.details': ({ modelId }) => lifecycle.details(modelId),
    'models.remove': async ({ modelId }) => {
      await evaluation.letGo(modelId);
      return lock.shared(() => lifecycle.remove(modelId));
    },
    'models.restore': ({ modelId }) => lock.shared(() => lifecycle.restore(modelId)),
    'models.verify': ({ modelId }) => lock.shared(() => lifecycle.verify(modelId)),
    'models.repair': async ({ modelId }) => {
      const damaged = await lock.shared(() => lifecycle.dropDamaged(modelId));
      const { source, repository, commit, files, name } = damaged;
      const from = sources.byId(source);
      if (!from)
        throw new LonghandError('not-found', `[models] the source ${source} is no longer set up`, {
          details: { reason: 'no-source' },
        });
      const pinned = files.map((file) => from.file(repository, commit, file));
      return downloads.start({ source: from.id, name: repository, commit, gated: false, files: pinned }, files, name);
    },
    'models.listExternal': async () => {
      const known = new Set((await library.list()).map(({ path }) => path));
      return (await listExternalModels()).filter(({ path }) => !known.has(path));
    },
    'models.linkExternal': async ({ path }) => {
      const model = (await listExternalModels()).find((one) => one.path === path);
      if (!model) throw new LonghandError('not-found', `[models] no other program keeps a model at ${path}`);
      return library.add(await linkOf(model, location.links()), model.name);
    },
    'models.machine': () => {
      bandwidth.want();
      return machine();
    },

    'weightCache.size': weightCache.size,
    'weightCache.clear': weightCache.clear,

    'library.state': async () => {
      await location.look();
      return relocation.state();
    },
    'library.plan': ({ folder }) => relocation.plan(folder),
    'library.move': ({ folder }) => shrinking.atRest(() => relocation.begin(folder)),
    'library.pause': relocation.pause,
    'library.resume': relocation.resume,
    'library.cancel': relocation.cancel,

    'catalogue.list': () => readCatalogue(readFileSync(join(resources, 'catalogue', 'models.json'), 'utf8')),
    'models.search': async ({ text, source, limit, all }, signal) => {
      const asked = source === undefined ? sources.hub() : sources.byId(source);
      if (!asked)
        throw new LonghandError('not-found', `[models] the source ${source} is not set up`, {
          details: { reason: 'no-source' },
        });
      try {
        const late = AbortSignal.timeout(SEARCH_MS);
        const ended = signal ? AbortSignal.any([signal, late]) : late;
        return await asked.search({ text, limit, onlyRunning: !all }, ended);
      } catch (error) {
        throw asFailure(error);
      }
    },
    'models.inspectRemote': ({ reference, variant }) => inspector.look(reference, variant),

    ...downloadHandlers({ downloads, inspector, sources }),

    'tokens.list': () => ({ sources: tokens.sources(), storedIn: tokens.storedIn }),
    'tokens.set': ({ source, token }) => tokens.write(source, token),

    ...remoteEngines.handlers,
    ...shrinking.handlers,
    ...evaluation.handlers,
    'privacy.networkLog': networkLog.list,
    'privacy.reportBlocked': ({ address }) => refusedPage(address),
  };

  return {
    library,
    handlers,
    checkSettings(patch) {
      if (patch.extraCaCertificates) certificatesIn(patch.extraCaCertificates);
      if (patch.proxy) needProxy(patch.proxy);
      if (patch.hubEndpoint) needMirror(patch.hubEndpoint);
    },
    settingsChanged: route,
    engineStatus(status) {
      keepAlive.status(status);
      evaluation.engineStatus(status);
      if (status.phase === 'idle' && !up) askDevices();
      up = status.phase !== 'restarting' && status.phase !== 'stopped';
    },
    refusedPage,
    keepAlive,
    via: networkLog.via,
    reach: remoteEngines.reach,
    onDownload: (listener) => void followers.push(listener),
    refusedVisitor: (visitor) => networkLog.refused({ ...visitor, reason: 'visitor' }),
    async close() {
      keepAlive.close();
      await Promise.all([shrinking.close(), evaluation.close()]);
      await drives.close();
      // The relocation may wait for a verification, which closing the lifecycle ends.
      await Promise.all([relocation.close(), lifecycle.close()]);
      await downloads.close();
      networkLog.close();
    },
  };
}
