import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Engine } from '../engine/client/engine-client.ts';
import type {
  CallName,
  Device,
  DownloadNews,
  Emit,
  EngineStatus,
  Handlers,
  ModelEntry,
  Settings,
  SettingsPatch,
  Variant,
} from '../protocol/index.ts';
import { deviceInUse, guarded, LonghandError, type Report } from '../protocol/index.ts';
import type { Database } from '../store/database.ts';
import { createDownloads, type DownloadsOptions } from './downloads/download-queue.ts';
import { linkOf, listAdoptable } from './external/link.ts';
import { createBandwidth } from './hardware/bandwidth.ts';
import { machineFacts, memoryIsShort, memoryLimit } from './hardware/hardware.ts';
import { createKeepAlive } from './hardware/idle-unload.ts';
import { asFailure } from './network/error-mapping.ts';
import { certificatesIn, needMirror, needProxy, takeRoute } from './network/network-config.ts';
import { createContacts } from './network/network-log.ts';
import { readCatalogue } from './registry/catalogue.ts';
import { createKeeper } from './registry/model-lifecycle.ts';
import { createLibrary, type Library } from './registry/model-registry.ts';
import { closeLibrary } from './relocation/copy-tree.ts';
import { createMover, type MoverOptions } from './relocation/relocation.ts';
import { type Cipher, createTokens } from './sources/access-tokens.ts';
import { FOLDER } from './sources/remote-headers.ts';
import { createLooker } from './sources/remote-inspector.ts';
import { createSources } from './sources/source-registry.ts';
import { createPresences, watchDrives } from './storage/availability.ts';
import { createShelf } from './storage/blob-store.ts';
import { ggufOf } from './storage/folder-layout.ts';
import { createGlance, type Disk, disk as disks, type Patience } from './storage/fs-probe.ts';
import { createPlace } from './storage/library-location.ts';
import { createGate } from './storage/rw-lock.ts';
import { createPacked } from './storage/weight-cache.ts';

export type ModelManagerOptions = {
  db: Database;
  engine: Engine;
  emit: Emit;
  settings: () => Settings;
  dataFolder: string;
  /** Folders that ship with the app. */
  resources: string;
  cipher: Cipher | null;
  now: () => number;
  report: Report;
  downloads?: DownloadsOptions['tuning'];
  move?: MoverOptions['tuning'];
  /** How often it is looked whether drives are there, how, and how long each look may take. */
  lookMs?: number;
  disk?: Disk;
  patience?: Patience;
};

type Owned = Extract<
  CallName,
  `${'models' | 'packed' | 'library' | 'catalogue' | 'downloads' | 'tokens' | 'privacy'}.${string}`
>;
/** What is answered here, of the protocol's table. */
type ModelHandlers = Pick<Handlers, Exclude<Owned, 'models.load' | 'models.cancelLoad' | 'models.unload'>>;

export type ModelManager = {
  library: Library;
  handlers: ModelHandlers;
  /** Before a change of the settings. @throws LonghandError when a file that one names cannot be used */
  checkSettings(patch: SettingsPatch): void;
  /** After a change of the settings. */
  settingsChanged(): void;
  engineStatus(status: EngineStatus): void;
  refusedVisitor(visitor: { host: string; about: string }): void;
  refusedPage(address: string): void;
  /** A download that is here, or that needs somebody. */
  onDownload(listener: (news: DownloadNews) => void): void;
  close(): Promise<void>;
};

const SEARCH_MS = 30_000;

/** Models from the first look at a catalogue to the last byte on disk. */
export function createModelManager(options: ModelManagerOptions): ModelManager {
  const { db, engine, emit, settings, dataFolder, resources, now, report, disk = disks } = options;
  const glance = createGlance(options.patience);
  const place = createPlace(db, join(dataFolder, 'models'), disk, glance, guarded(report, closeLibrary));
  const presences = createPresences(place, disk, glance);
  const packed = createPacked(db, join(dataFolder, 'packed'));
  const gate = createGate();
  let devices: Device[] = [];
  /** Asked at every start of the engine: the first may have died before it answered, and a driver may be gone since. */
  const askDevices = guarded(report, async () => {
    const found = await engine.ask('devices', null).catch(() => null); // it is gone again; its next start asks
    if (!found) return;
    devices = found;
    tellMachine();
  });

  const inUse = () => {
    const status = engine.status();
    return status.phase === 'ready' || status.phase === 'busy' ? status.memoryBytes : 0;
  };
  const limit = () => memoryLimit(deviceInUse(devices, settings().device), inUse());
  const library = createLibrary({
    db,
    engine,
    emit,
    settings,
    memoryLimit: limit,
    place,
    presences,
    packed,
    disk,
    glance,
    starter: join(resources, 'starter-model'),
    now,
  });
  const facts = async () =>
    machineFacts((await place.look()) ? place.folder() : place.home, limit(), bandwidth.known());
  const tellMachine = guarded(report, async () => emit('machine.changed', await facts()));
  const bandwidth = createBandwidth({
    db,
    engine,
    now,
    measured: tellMachine,
    report,
  });
  const tokens = createTokens(join(dataFolder, 'tokens.json'), options.cipher);
  const contacts = createContacts({
    db,
    allowed: () => settings().network !== 'off',
    now,
    changed: () => emit('contacts.changed', null),
  });
  const sources = createSources(settings, tokens, contacts.via);
  const looker = createLooker({ sources, net: contacts.via, verdict: (headers) => engine.ask('describe', headers) });
  const shelf = createShelf(db, place);
  const keeper = createKeeper({ library, shelf, place, packed, gate, engine, emit, now });
  const followers: ((news: DownloadNews) => void)[] = [];
  const tellOf = (news: DownloadNews) => {
    for (const follower of followers) follower(news);
  };
  const arrived = (model: ModelEntry) => {
    emit('download.finished', model);
    tellOf({ name: model.name, kind: 'arrived' });
  };
  const downloads = createDownloads({
    db,
    shelf,
    barred: () => (place.there() ? (mover.copying() ? 'moving' : null) : 'away'),
    source: sources.byId,
    net: (about) => contacts.via({ reason: 'download', about }),
    changed: (list) => emit('downloads.changed', list),
    stuck: tellOf,
    finished: async ({ name, path }) => arrived(await library.add(path, name)),
    now,
    ...(options.downloads && { tuning: options.downloads }),
  });
  const mover = createMover({
    db,
    place,
    gate,
    changed: (state) => emit('library.changed', state),
    rest: downloads.rest,
    wake: downloads.wake,
    switched() {
      library.refresh();
      tellMachine();
    },
    letGo,
    tuning: { glance, ...options.move },
  });
  const drives = watchDrives({
    paths: library.linkedPaths,
    presences,
    there: place.there,
    report,
    overlooked: async () => downloads.waits() || (await mover.waits()),
    ...(options.lookMs !== undefined && { everyMs: options.lookMs }),
    changed() {
      library.refresh();
      emit('library.changed', mover.state());
      if (!place.there()) return void downloads.rest();
      downloads.wake();
      mover.look();
    },
  });

  /** The model in memory is taken from where it is now. A running answer is waited for. */
  async function letGo(old: string): Promise<void> {
    const target = engine.target();
    if (!target?.path.startsWith(old + sep)) return;
    await engine.unload();
    await engine.load(library.target(target.modelId).target).catch(() => {}); // it says so when it is asked something
  }

  let up = false;
  const keepAlive = createKeepAlive({ engine, minutes: () => settings().keepAliveMinutes, memoryIsShort });
  const route = () => {
    downloads.limit(settings().downloadLimit);
    if (settings().network !== 'off') downloads.wake();
    try {
      takeRoute(settings());
    } catch {
      // The file with the certificates is gone: what needs them says so when it is asked for.
    }
  };
  route();
  shelf.discardRemoved().catch(() => {}); // tried again at the next start
  packed.sweep().catch(() => {}); // the app ended meanwhile

  const refusedPage = (address: string) => {
    const url = URL.parse(address);
    contacts.refused({ host: url?.host || url?.protocol || 'unknown', reason: 'page', about: '' });
  };

  const handlers: ModelHandlers = {
    'models.list': library.list,
    'models.add': ({ path }) => library.add(path),
    'models.inspect': ({ path }) => library.inspect(path),
    'models.configure': ({ modelId, settings }) => library.configure(modelId, settings),
    'models.duplicate': ({ modelId, name }) => library.duplicate(modelId, name),
    'models.preview': ({ modelId, template }) => library.preview(modelId, template),
    'models.details': ({ modelId }) => keeper.details(modelId),
    'models.remove': ({ modelId }) => gate.shared(() => keeper.remove(modelId)),
    'models.restore': ({ modelId }) => gate.shared(() => keeper.restore(modelId)),
    'models.verify': ({ modelId }) => gate.shared(() => keeper.verify(modelId)),
    'models.repair': async ({ modelId }) => {
      const damaged = await gate.shared(() => keeper.dropDamaged(modelId));
      const { source, repository, commit, files, name } = damaged;
      const from = sources.byId(source);
      if (!from)
        throw new LonghandError('not-found', `[models] the source ${source} is not set up any more`, {
          details: { reason: 'no-source' },
        });
      const pinned = files.map((file) => from.file(repository, commit, file));
      return downloads.start({ source: from.id, name: repository, commit, gated: false, files: pinned }, files, name);
    },
    'models.adoptable': async () => {
      const known = new Set((await library.list()).map(({ path }) => path));
      return (await listAdoptable()).filter(({ path }) => !known.has(path));
    },
    'models.adopt': async ({ path }) => {
      const model = (await listAdoptable()).find((one) => one.path === path);
      if (!model) throw new LonghandError('not-found', `[models] no other program keeps a model at ${path}`);
      return library.add(await linkOf(model, place.links()), model.name);
    },
    'models.machine': () => {
      bandwidth.want();
      return facts();
    },

    'packed.size': packed.size,
    'packed.clear': packed.clear,

    'library.state': async () => {
      await place.look();
      return mover.state();
    },
    'library.plan': ({ folder }) => mover.plan(folder),
    'library.move': ({ folder }) => mover.begin(folder),
    'library.pause': mover.pause,
    'library.resume': mover.resume,
    'library.cancel': mover.cancel,

    'catalogue.list': () => readCatalogue(readFileSync(join(resources, 'catalogue', 'models.json'), 'utf8')),
    'models.search': async ({ text, source, limit, all }) => {
      const asked = source === undefined ? sources.hub() : sources.byId(source);
      if (!asked)
        throw new LonghandError('not-found', `[models] the source ${source} is not set up`, {
          details: { reason: 'no-source' },
        });
      try {
        return await asked.search({ text, limit, onlyRunning: !all }, AbortSignal.timeout(SEARCH_MS));
      } catch (error) {
        throw asFailure(error);
      }
    },
    'models.look': ({ reference, variant }) => looker.look(reference, variant),

    'downloads.list': downloads.list,
    'downloads.start': async ({ reference, variant, name }) => {
      const { repository, headers, variant: chosen } = await looker.inspect(reference, variant);
      needSupported(chosen, repository.name);
      return downloads.start(repository, headers.files, name ?? nameOf(repository.name));
    },
    'downloads.pause': ({ downloadId }) => downloads.pause(downloadId),
    'downloads.resume': ({ downloadId }) => downloads.resume(downloadId),
    'downloads.cancel': ({ downloadId }) => downloads.cancel(downloadId),
    'downloads.renew': async ({ downloadId }) => {
      const row = downloads.row(downloadId);
      const from = sources.byId(row.source);
      if (!from)
        throw new LonghandError('not-found', `[downloads] the source ${row.source} is not set up any more`, {
          details: { reason: 'no-source' },
        });
      const { repository, headers, variant } = await looker.inspectNewest(from, row.repository, ggufOf(row) ?? FOLDER);
      needSupported(variant, repository.name);
      await downloads.renew(downloadId, { commit: repository.commit, files: headers.files });
    },
    'downloads.move': ({ downloadId, place }) => downloads.move(downloadId, place),

    'tokens.list': () => ({ sources: tokens.sources(), kept: tokens.kept }),
    'tokens.set': ({ source, token }) => tokens.write(source, token),

    'privacy.contacts': contacts.list,
    'privacy.refused': ({ address }) => refusedPage(address),
  };

  return {
    library,
    handlers,
    checkSettings(patch) {
      if (patch.certificates) certificatesIn(patch.certificates);
      if (patch.proxy) needProxy(patch.proxy);
      if (patch.hubMirror) needMirror(patch.hubMirror);
    },
    settingsChanged: route,
    engineStatus(status) {
      keepAlive.status(status);
      if (status.phase === 'idle' && !up) askDevices();
      up = status.phase !== 'restarting' && status.phase !== 'stopped';
    },
    refusedPage,
    onDownload: (listener) => void followers.push(listener),
    refusedVisitor: (visitor) => contacts.refused({ ...visitor, reason: 'visitor' }),
    async close() {
      keepAlive.close();
      await drives.close();
      // A switch waits for a check of files, which the keeper ends.
      await Promise.all([mover.close(), keeper.close()]);
      await downloads.close();
      contacts.close();
    },
  };
}

/** @throws LonghandError `model-unsupported` */
function needSupported({ description }: Variant, name: string): void {
  if (description.supported) return;
  const { problems } = description;
  throw new LonghandError('model-unsupported', `[models] ${name}: ${problems[0] ?? 'not supported'}`, {
    details: { problems },
  });
}

/** Without the owner, and without what only says which form it is. */
const nameOf = (repository: string): string =>
  decodeURIComponent(repository.slice(repository.lastIndexOf('/') + 1)).replace(/[-_.](gguf|safetensors)$/i, '');
