import { basename, join } from 'node:path';
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
import { isBeingWritten } from '../storage/model-file.ts';
import { declaredName, plainName, readableName, stemOf, withLabel } from '../storage/model-name.ts';
import { labelOf } from '../storage/quantisation-label.ts';
import type { WeightCache } from '../storage/weight-cache.ts';
import type { BuiltInModel } from './built-in-models.ts';
import { contextElsewhere, needHere, THINKS, targetElsewhere, type Whereabouts } from './elsewhere-models.ts';
import { tooLarge, unmountedError } from './model-errors.ts';
import { modelPathOf } from './model-path.ts';
import { cacheOf } from './prompt-cache-size.ts';

/** What the engine makes room for when nobody chose a context, and the least that is worth a chat. */
const usualContext = 32_768;
const leastContext = 512;

export type ModelRegistry = {
  /** With a look whether their files are there. */
  list(): Promise<ModelEntry[]>;
  entryOf(row: ModelRow): ModelEntry;
  /** Where files of others are that are used here. */
  linkedPaths(): string[];
  /** Files came or went, or are at another place: everybody is told. */
  refresh(): void;
  /** `name`: what it is called when its files do not say. */
  add(path: string, name?: string): Promise<ModelEntry>;
  inspect(path: string): Promise<ModelDescription>;
  /** Out of the list, with its presets, or not at all; its files stay. Returns what `put` needs to bring them back, the model
   *  first. */
  forget(modelId: ModelId): ModelRow[];
  /** All of them, or none. Returns the first. */
  put(rows: readonly ModelRow[]): ModelEntry;
  find(modelId: ModelId): ModelRow;
  /** `sampling`: what the user set for this model. */
  target(modelId: ModelId | null): { target: LoadTarget; name: string; sampling: SamplingSettings };
  /** Looks whether its files are there: what `target` knows is from the last look. */
  look(modelId: ModelId | null): Promise<void>;
  /** @throws LonghandError `template-failed` when its template cannot be rendered; then nothing is changed */
  configure(modelId: ModelId, settings: ModelSettings): Promise<ModelEntry>;
  duplicate(modelId: ModelId, name: string): ModelEntry;
  preview(modelId: ModelId, template: string | null): Promise<Preview>;
  /** @throws LonghandError `model-missing`, `model-unsupported` when it writes text */
  embedder(modelId: ModelId, kind?: 'encoder' | 'ranker'): { target: EmbedderTarget; name: string };
  /** The cross-encoder that documents are searched with; null when none is installed. */
  reranker(): EmbedderTarget | null;
  /** How it is asked, where it runs on an engine elsewhere; null: it does not. */
  elsewhere(modelId: ModelId | null): LoadTarget | null;
  thinksByDefault(modelId: ModelId): boolean;
  /** Whether it sees pictures; null: the model that a chat without one has. */
  sees(modelId: ModelId | null): boolean;
  parametersOf(modelId: ModelId): number;
  /** Tokens of context it has when it is loaded, as far as that is known before; 0: an engine elsewhere does not say. */
  contextLengthOf(modelId: ModelId): number;
  used(modelId: ModelId): void;
  /** With `load`: loads the default, else the last used model, so that the first question need not wait. Then looks at the
   *  built-in ones, so that the list can say what they are. A model that fails says so when it is asked something. */
  warmUp(load: boolean): Promise<void>;
};

export type ModelRegistryOptions = {
  db: Database;
  engine: Engine;
  emit: Emit;
  settings: () => Settings;
  /** Bytes a model may take now, when what is in memory makes room for it. */
  memoryLimit: () => number;
  /** Where the files are that are our own. */
  location: Pick<LibraryLocation, 'owns' | 'links'>;
  availability: Availability;
  /** Where packed weights are kept. */
  weightCache: Pick<WeightCache, 'fileOf'>;
  /** Where what was read of chats is kept. */
  promptFolder: string;
  disk: Disk;
  probe: ProbeWithTimeout;
  /** Where a model runs that is none of this computer; null for one that is, and where its engine was removed. */
  whereabouts: Whereabouts;
  /** Models that ship with the app, the one to begin with first. */
  builtIn: readonly BuiltInModel[];
  now: () => number;
};

export function createModelRegistry(options: ModelRegistryOptions): ModelRegistry {
  const { db, engine, emit, settings, location, availability, promptFolder, builtIn, now } = options;
  for (const { id, name } of builtIn) {
    if (!findModel(db, id)) addModel(db, { id, name, path: null, metadata: null }, now());
  }

  /** As they stand in the database; this process alone writes them. */
  let rows: ModelRow[] | null = null;
  const known = (): ModelRow[] => {
    rows ??= listModels(db);
    return rows;
  };
  const paths = () => known().flatMap(({ path }) => (path === null ? [] : [path]));
  /** Of a built-in model, or of a preset of one; null where this package has none of it. */
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
    const elsewhere = options.whereabouts(row.elsewhere);
    const found = path !== null ? availability.of(path) : (elsewhere ?? builtInPath(row)) === null ? 'missing' : 'here';
    return {
      id,
      name,
      path,
      builtIn: path === null && presetOf === null && row.elsewhere === null,
      external: path !== null && !location.owns(path),
      missing: found !== 'here',
      unmounted: found === 'unmounted',
      lastUsedAt,
      description: metadata?.description ?? null,
      thinking: elsewhere ? THINKS : (metadata?.thinking ?? null),
      settings,
      presetOf,
      elsewhere,
    };
  };
  const changed = () => {
    rows = null;
    emit('models.changed', known().map(entryOf));
  };
  /** Only what is known of one has changed: with every turn a list of thousands would go to every page. */
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
    const metadata = await inspectFiles(path);
    if (!metadata.description.supported) {
      throw new LonghandError(
        'model-unsupported',
        `[model] ${path}: ${metadata.description.problems[0] ?? 'not supported'}`,
        {
          details: { problems: metadata.description.problems },
        },
      );
    }
    const called = plainName(await nameOf(path, metadata.names, name)) || 'Model';
    // Asked last: whoever else added it meanwhile was faster, and it is in the list once.
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
    const { name, settings: own, elsewhere } = row;
    if (elsewhere) return { target: targetElsewhere(row, elsewhere, settings().kvType), name, sampling: own.sampling };
    needWriter(row);
    const path = pathOf(row);
    needFiles(path);
    guardMemory(row);
    const device = own.device ?? settings().device;
    const { threads, kvType } = settings();
    const target = { modelId: row.id, path, device, threads, contextLength: contextOf(row), kvType };
    return {
      target: { ...target, ...cacheOf(settings(), promptFolder), template: own.template, packed: packedOf(row) },
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

  /** Null for the built-in model too: its weights are read where they stand. */
  const packedOf = (row: ModelRow) =>
    settings().cachePackedWeights && row.path !== null ? options.weightCache.fileOf(row) : null;

  /** @throws LonghandError `model-missing`, with `away` when its drive may come back */
  function needFiles(path: string): void {
    const found = availability.of(path);
    if (found === 'unmounted') throw unmountedError(path);
    if (found === 'missing') throw new LonghandError('model-missing', `[models] ${path} no longer exists`);
  }

  const contextOf = (row: ModelRow) => row.settings.contextLength ?? settings().contextLength;

  const expectedContext = (row: ModelRow) =>
    Math.min(contextOf(row) ?? usualContext, row.metadata?.description.contextLength ?? usualContext);

  /** The same forecast that a download shows: a load that cannot end well is not begun. What is in memory already is not
   *  asked again. */
  function guardMemory(row: ModelRow) {
    const { id, name, metadata } = row;
    if (!metadata || engine.target()?.modelId === id) return;
    const { description } = metadata;
    const contextLength = expectedContext(row);
    const limitBytes = options.memoryLimit();
    const needs = forecast(description, { limitBytes, bandwidth: null }, { contextLength, kvType: settings().kvType });
    if (needs.verdict !== 'too-large') return;
    // Without a wish the engine takes a context that fits; so only a model that fits with none is refused.
    const { longestContext } = needs;
    if (contextOf(row) === null && longestContext >= leastContext) return;
    throw tooLarge(name, { needed: needs.total, limit: limitBytes, contextLength, longestContext }, leastContext);
  }

  /** @throws LonghandError `unreadable` with the reason `being-written` when that is why */
  async function inspectFiles(path: string) {
    try {
      return await engine.ask('inspect', { path });
    } catch (error) {
      const broken = error instanceof LonghandError && error.code === 'model-broken';
      if (!broken || !(await isBeingWritten(path))) throw error;
      const details = { reason: 'being-written' };
      throw new LonghandError('unreadable', error.message, { details, cause: error });
    }
  }

  /** The name the files give themselves, else that of the folder or file. Folders of the Hugging Face cache are hashes, so
   *  there the repository's name is used. `declared`: what a GGUF file says, the best first; `given`: by whoever brought it, which counts unless
   *  it only repeats the name of the file. */
  async function nameOf(path: string, declared: readonly string[], given?: string): Promise<string> {
    const repository = path.match(/models--[^/\\]+--([^/\\]+)/)?.[1];
    if (given !== undefined && given !== stemOf(path)) return given;
    const own = declared.map(readableName).find((name) => name !== null);
    if (own !== undefined && own !== null) return withLabel(own, labelOf(basename(path)));
    return repository ?? declaredName(await options.disk.text(join(path, 'config.json'))) ?? stemOf(path);
  }

  async function loadFirst() {
    const { target: first } = target(null);
    if (!first.elsewhere) await engine.load(first);
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
    elsewhere(modelId) {
      const row = rowOf(modelId);
      return row.elsewhere && targetElsewhere(row, row.elsewhere, settings().kvType);
    },
    async configure(modelId, wanted) {
      const row = find(modelId);
      const { template } = wanted;
      if (template !== null) await engine.ask('preview', { path: pathOf(row), template });
      setModelSettings(db, modelId, wanted);
      return changedOne(modelId);
    },
    duplicate(modelId, name) {
      const { path, metadata, settings: own, presetOf, elsewhere } = find(modelId);
      const id = newId(now()) as ModelId;
      addModel(db, { id, name, path, metadata, settings: own, presetOf: presetOf ?? modelId, elsewhere }, now());
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
      return row.elsewhere ? contextElsewhere(row) : expectedContext(row);
    },
    parametersOf: (modelId) => findModel(db, modelId)?.metadata?.description.parameters ?? 0,
    thinksByDefault(modelId) {
      const row = findModel(db, modelId);
      return (row?.elsewhere ? THINKS : row?.metadata?.thinking)?.byDefault ?? false;
    },
    sees(modelId) {
      const { elsewhere, metadata } = rowOf(modelId);
      return elsewhere ? elsewhere.pictures : metadata?.description.vision != null;
    },
    used(modelId) {
      setModelUsed(db, modelId, now());
      changedOne(modelId);
    },
    async warmUp(load) {
      await availability.look(paths());
      // Whatever the first model says, the built-in ones are inspected; that one says so when it is asked something.
      if (load && settings().loadOnStart) await loadFirst().catch(() => {});
      const older = modelsToInspect(db).flatMap(({ id, path }) => (isThere(path) ? [{ id, path }] : []));
      for (const { id, path } of [...builtIn, ...older]) {
        const metadata = await engine.ask('inspect', { path }).catch(() => null); // asked again at the next start
        if (!metadata) continue;
        setModelMetadata(db, id, metadata);
        changed();
      }
    },
  };
}
