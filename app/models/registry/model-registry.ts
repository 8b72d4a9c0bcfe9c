import type { Engine } from '../../engine/client/engine-client.ts';
import type { EmbedderTarget, LoadTarget, Preview } from '../../engine/ipc-protocol.ts';
import {
  ASSISTANT,
  canChat,
  type Emit,
  forecast,
  LonghandError,
  type ModelDescription,
  type ModelEntry,
  type ModelId,
  type ModelSettings,
  modelForNewChats,
  type SamplingSettings,
  type Settings,
  STARTER,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { newId } from '../../store/database/uuid.ts';
import {
  addModel,
  findModel,
  findModelByPath,
  listModels,
  type ModelRow,
  modelsToInspect,
  presetsOf,
  removeModel,
  setModelMetadata,
  setModelSettings,
  setModelUsed,
} from '../../store/models/models.ts';
import type { Availability } from '../storage/availability.ts';
import type { Disk, ProbeWithTimeout } from '../storage/fs-probe.ts';
import type { LibraryLocation } from '../storage/library-location.ts';
import { plainName } from '../storage/model-name.ts';
import type { WeightCache } from '../storage/weight-cache.ts';
import type { BuiltInModel } from './built-in-models.ts';
import { tooLarge, unmountedError } from './model-errors.ts';
import { inspectFiles, inspectWithVision, nameOf } from './model-inspection.ts';
import { modelPathOf, visionPathOf } from './model-path.ts';
import { cacheOf, type PromptCacheDisk } from './prompt-cache-size.ts';
import { type AddressInfo, needHere, remoteContext, remoteTarget, THINKS } from './remote-models.ts';

/** The default context length, and the smallest that is useful for a chat. */
const usualContext = 32_768;
const leastContext = 512;

export type ModelRegistry = {
  /** All models, after checking that their files exist. */
  list(): Promise<ModelEntry[]>;
  entryOf(row: ModelRow): ModelEntry;
  /** Paths of external files in use. */
  linkedPaths(): string[];
  /** Announces that files appeared, disappeared or moved. */
  refresh(): void;
  /** `name`: used if its files contain no name. */
  add(path: string, name?: string): Promise<ModelEntry>;
  inspect(path: string): Promise<ModelDescription>;
  /** What the engine opens. @throws LonghandError `model-missing`, and `model-unsupported` for a remote model */
  filesOf(modelId: ModelId): string;
  /** Removes the rows of a model and its presets atomically; files stay. Returns the rows for `put`, the model
   *  first. */
  forget(modelId: ModelId): ModelRow[];
  /** Inserts all rows or none. Returns the first. */
  put(rows: readonly ModelRow[]): ModelEntry;
  find(modelId: ModelId): ModelRow;
  /** `sampling`: the user's settings for this model. */
  target(modelId: ModelId | null): { target: LoadTarget; name: string; sampling: SamplingSettings };
  /** Checks that its files exist: `target` uses the last result. */
  look(modelId: ModelId | null): Promise<void>;
  /** @throws LonghandError `template-failed` if its template cannot be rendered, `not-found` or `unreadable` if the vision tower
   *  cannot be used; then nothing is changed */
  configure(modelId: ModelId, settings: ModelSettings): Promise<ModelEntry>;
  duplicate(modelId: ModelId, name: string): ModelEntry;
  preview(modelId: ModelId, template: string | null): Promise<Preview>;
  /** @throws LonghandError `model-missing`, `model-unsupported` for a generative model */
  embedder(modelId: ModelId, kind?: 'encoder' | 'ranker'): { target: EmbedderTarget; name: string };
  /** The cross-encoder for document search; null if none is installed. */
  reranker(): EmbedderTarget | null;
  /** The target of a remote model; null for a local one. */
  remote(modelId: ModelId | null): LoadTarget | null;
  thinksByDefault(modelId: ModelId): boolean;
  /** Whether a model has vision; null: the default model. */
  sees(modelId: ModelId | null): boolean;
  parametersOf(modelId: ModelId): number;
  /** Context length once loaded, as far as known beforehand; 0: a remote engine does not report it. */
  contextLengthOf(modelId: ModelId): number;
  used(modelId: ModelId): void;
  /** With `load`: loads the default or else the last used model, so that the first question need not wait. Then inspects the
   *  built-in ones for the list. Load errors surface on first use. */
  warmUp(load: boolean): Promise<void>;
};

export type ModelRegistryOptions = {
  db: Database;
  engine: Engine;
  emit: Emit;
  settings: () => Settings;
  /** Bytes available to a model now, once the loaded one is unloaded. */
  memoryLimit: () => number;
  /** The location of our own files. */
  location: Pick<LibraryLocation, 'owns' | 'links'>;
  availability: Availability;
  /** The cache of packed weights. */
  weightCache: Pick<WeightCache, 'fileOf'>;
  /** The prompt cache on disk. */
  promptDisk: () => PromptCacheDisk;
  disk: Disk;
  probe: ProbeWithTimeout;
  /** Where a remote model runs; null for a local one, and if its engine was removed. */
  addressInfo: AddressInfo;
  /** Built-in models, the default first. */
  builtIn: readonly BuiltInModel[];
  now: () => number;
};

export function createModelRegistry(options: ModelRegistryOptions): ModelRegistry {
  const { db, engine, emit, settings, location, availability, promptDisk, builtIn, now } = options;
  // Newer models stand first in the list: of these the default.
  const begun = now();
  for (const [at, { id, name }] of builtIn.entries()) {
    if (!findModel(db, id)) addModel(db, { id, name, path: null, metadata: null }, begun - at);
  }

  /** Cache of the database rows; only this process writes them. */
  let rows: ModelRow[] | null = null;
  const known = (): ModelRow[] => {
    rows ??= listModels(db);
    return rows;
  };
  const paths = () => known().flatMap(({ path }) => (path === null ? [] : [path]));
  /** The path of a built-in model or a preset of one; null if this package does not contain it. */
  const builtInPath = ({ id, presetOf }: ModelRow): string | null =>
    builtIn.find((model) => model.id === (presetOf ?? id))?.path ?? null;
  const pathOf = (row: ModelRow): string => {
    needHere(row);
    const path = row.path ?? builtInPath(row);
    if (path === null) throw new LonghandError('model-missing', `[models] ${row.name} does not ship with this package`);
    return path;
  };
  const linkedPaths = () => paths().filter((path) => !location.owns(path));
  const entryOf = (row: ModelRow): ModelEntry => {
    const { id, name, path, lastUsedAt, metadata, settings, presetOf } = row;
    const remote = options.addressInfo(row.remote);
    const found = path !== null ? availability.of(path) : (remote ?? builtInPath(row)) === null ? 'missing' : 'here';
    return {
      id,
      name,
      path,
      builtIn: path === null && presetOf === null && row.remote === null,
      external: path !== null && !location.owns(path),
      missing: found !== 'here',
      unmounted: found === 'unmounted',
      lastUsedAt,
      description: metadata?.description ?? null,
      thinking: remote ? THINKS : (metadata?.thinking ?? null),
      settings,
      presetOf,
      remote,
    };
  };
  const changed = () => {
    rows = null;
    emit('models.changed', known().map(entryOf));
  };
  /** Announces a change of one entry, so that not every turn sends a list of thousands to every page. */
  const changedOne = (modelId: ModelId): ModelEntry => {
    rows = null;
    const entry = entryOf(find(modelId));
    emit('model.changed', entry);
    return entry;
  };

  const isThere = (path: string | null): path is string => path !== null && availability.of(path) === 'here';
  const embedderTarget = (path: string): EmbedderTarget => {
    const { device, threads } = settings();
    return { path, device, threads };
  };

  async function add(given: string, name?: string): Promise<ModelEntry> {
    const path = await modelPathOf(given, options);
    const vision = findModelByPath(db, path)?.settings.vision ?? null;
    const metadata = await inspectFiles(engine, path, vision);
    if (!metadata.description.supported) {
      throw new LonghandError(
        'model-unsupported',
        `[model] ${path}: ${metadata.description.problems[0] ?? 'not supported'}`,
        {
          details: { problems: metadata.description.problems },
        },
      );
    }
    const called = plainName(await nameOf(options.disk, path, metadata.names, name)) || 'Model';
    // Checked last: another caller may have added it in the meantime, and it must be listed once.
    const before = findModelByPath(db, path);
    const id = before?.id ?? (newId(now()) as ModelId);
    if (before) setModelMetadata(db, id, metadata);
    else addModel(db, { id, name: called, path, metadata }, now());
    await availability.look([path]);
    changed();
    return entryOf(find(id));
  }

  function find(modelId: ModelId): ModelRow {
    const row = findModel(db, modelId);
    if (!row) throw new LonghandError('model-missing', `[models] no model ${modelId}`);
    return row;
  }

  const rowOf = (modelId: ModelId | null): ModelRow =>
    find(modelId ?? modelForNewChats(known().map(entryOf), settings().defaultModelId)?.id ?? STARTER);

  function target(modelId: ModelId | null) {
    const row = rowOf(modelId);
    const { name, settings: own, remote } = row;
    if (remote) return { target: remoteTarget(row, remote, settings().kvType), name, sampling: own.sampling };
    needWriter(row);
    const path = pathOf(row);
    needFiles(path);
    guardMemory(row);
    const device = own.device ?? settings().device;
    const { threads, kvType } = settings();
    const target = { modelId: row.id, path, device, threads, contextLength: contextOf(row), kvType };
    const files = { packed: packedOf(row), ...(own.vision !== null && { vision: own.vision }) };
    return {
      target: { ...target, ...cacheOf(settings(), promptDisk()), template: own.template, ...files },
      name,
      sampling: own.sampling,
    };
  }

  /** @throws LonghandError `model-unsupported` */
  function needWriter({ name, metadata }: ModelRow): void {
    if (canChat({ description: metadata?.description ?? null })) return;
    const encoder = metadata?.description.encoder || metadata?.description.reranker;
    throw new LonghandError(
      'model-unsupported',
      `[models] ${name} ${encoder ? 'reads text and writes none' : 'cannot be run'}`,
      encoder ? { details: { reason: 'writes-nothing' } } : {},
    );
  }

  /** Also null for built-in models, whose weights are used in place. */
  const packedOf = (row: ModelRow) =>
    settings().cachePackedWeights && row.path !== null ? options.weightCache.fileOf(row) : null;

  /** @throws LonghandError `model-missing`, with `away` if its drive may return */
  function needFiles(path: string): void {
    const found = availability.of(path);
    if (found === 'unmounted') throw unmountedError(path);
    if (found === 'missing') throw new LonghandError('model-missing', `[models] ${path} no longer exists`);
  }

  const contextOf = (row: ModelRow) => row.settings.contextLength ?? settings().contextLength;

  const expectedContext = (row: ModelRow) =>
    Math.min(contextOf(row) ?? usualContext, row.metadata?.description.contextLength ?? usualContext);

  /** Refuses a load that cannot succeed, using the same forecast as downloads. A model that is already loaded is not
   *  checked again. */
  function guardMemory(row: ModelRow) {
    const { id, name, metadata } = row;
    if (!metadata || engine.target()?.modelId === id) return;
    const { description } = metadata;
    const contextLength = expectedContext(row);
    const limitBytes = options.memoryLimit();
    const needs = forecast(description, { limitBytes, bandwidth: null }, { contextLength, kvType: settings().kvType });
    if (needs.verdict !== 'too-large') return;
    // Without a chosen length the engine picks a context that fits; so only a model that fits with none is refused.
    const { longestContext } = needs;
    if (contextOf(row) === null && longestContext >= leastContext) return;
    throw tooLarge(name, { needed: needs.total, limit: limitBytes, contextLength, longestContext }, leastContext);
  }

  const inspectSettings = (row: ModelRow, vision: string | null) =>
    vision === null ? inspectFiles(engine, pathOf(row), null) : inspectWithVision(engine, pathOf(row), vision);

  async function loadFirst() {
    const { target: first } = target(null);
    if (!first.remote) await engine.load(first);
  }

  return {
    async list() {
      await availability.look(paths());
      return known().map(entryOf);
    },
    async look(modelId) {
      const path = modelId === null ? paths() : [findModel(db, modelId)?.path ?? []].flat();
      if (path.length > 0) await availability.look(path);
    },
    entryOf,
    linkedPaths,
    refresh: changed,
    add,
    find,
    inspect: async (given) => (await engine.ask('inspect', { path: await modelPathOf(given, options) })).description,
    filesOf(modelId) {
      const path = pathOf(find(modelId));
      needFiles(path);
      return path;
    },
    forget(modelId) {
      if (modelId === ASSISTANT || modelId === STARTER)
        throw new LonghandError('bad-request', '[models] a built-in model cannot be removed');
      const rows = [find(modelId), ...presetsOf(db, modelId)];
      db.transaction(() => {
        for (const { id } of rows) removeModel(db, id);
      });
      changed();
      return rows;
    },
    put(rows) {
      db.transaction(() => {
        for (const row of rows) {
          addModel(db, row, now());
          if (row.lastUsedAt !== null) setModelUsed(db, row.id, row.lastUsedAt);
        }
      });
      changed();
      return entryOf(find((rows[0] as ModelRow).id));
    },
    target,
    remote(modelId) {
      const row = rowOf(modelId);
      return row.remote && remoteTarget(row, row.remote, settings().kvType);
    },
    async configure(modelId, wanted) {
      const row = find(modelId);
      const { template } = wanted;
      if (template !== null) await engine.ask('preview', { path: pathOf(row), template });
      const vision = wanted.vision && (await visionPathOf(wanted.vision, options));
      const seen = vision === row.settings.vision ? null : await inspectSettings(row, vision);
      db.transaction(() => {
        setModelSettings(db, modelId, { ...wanted, vision });
        if (seen) setModelMetadata(db, modelId, seen);
      });
      return changedOne(modelId);
    },
    duplicate(modelId, name) {
      const { path, metadata, settings: own, presetOf, remote } = find(modelId);
      const id = newId(now()) as ModelId;
      addModel(db, { id, name, path, metadata, settings: own, presetOf: presetOf ?? modelId, remote }, now());
      changed();
      return entryOf(find(id));
    },
    preview: (modelId, template) => engine.ask('preview', { path: pathOf(find(modelId)), template }),
    embedder(modelId, kind = 'encoder') {
      const { path, name, metadata } = find(modelId);
      const { encoder = false, reranker = false } = metadata?.description ?? {};
      if (path === null || (kind === 'ranker' ? !reranker : !encoder || reranker)) {
        throw new LonghandError(
          'model-unsupported',
          `[models] ${name} does not produce embeddings; documents are searched with an embedding model`,
        );
      }
      needFiles(path);
      return { target: embedderTarget(path), name };
    },
    reranker() {
      const found = known().find(({ path, metadata }) => metadata?.description.reranker && isThere(path));
      return found?.path ? embedderTarget(found.path) : null;
    },
    contextLengthOf(modelId) {
      const row = find(modelId);
      return row.remote ? remoteContext(row) : expectedContext(row);
    },
    parametersOf: (modelId) => findModel(db, modelId)?.metadata?.description.parameters ?? 0,
    thinksByDefault(modelId) {
      const row = findModel(db, modelId);
      return (row?.remote ? THINKS : row?.metadata?.thinking)?.byDefault ?? false;
    },
    sees(modelId) {
      const { remote, metadata } = rowOf(modelId);
      return remote ? remote.pictures : metadata?.description.vision != null;
    },
    used(modelId) {
      setModelUsed(db, modelId, now());
      changedOne(modelId);
    },
    async warmUp(load) {
      await availability.look(paths());
      // The built-in ones are inspected even if the first model fails, whose error surfaces on its first use.
      if (load && settings().loadOnStart) await loadFirst().catch(() => {});
      const older = modelsToInspect(db).flatMap(({ id, path }) => (isThere(path) ? [{ id, path }] : []));
      for (const { id, path } of [...builtIn, ...older]) {
        const vision = findModel(db, id)?.settings.vision ?? null;
        const metadata = await inspectFiles(engine, path, vision).catch(() => null); // retried at the next start
        if (!metadata) continue;
        setModelMetadata(db, id, metadata);
        changed();
      }
    },
  };
}
