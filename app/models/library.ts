import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { EncoderTarget, LoadTarget, Preview } from '../engine/asks.ts';
import type { Engine } from '../engine/client.ts';
import {
  type Emit,
  forecast,
  LonghandError,
  type ModelDescription,
  type ModelEntry,
  type ModelId,
  type ModelSettings,
  type SamplingSettings,
  type Settings,
} from '../protocol/index.ts';
import type { Database } from '../store/database.ts';
import { newId } from '../store/identity.ts';
import {
  addModel,
  findModel,
  findModelByPath,
  listModels,
  type ModelRow,
  presetsOf,
  removeModel,
  setModelFacts,
  setModelSettings,
  setModelUsed,
} from '../store/models.ts';
import type { Disk, Glance, Kind } from './disk.ts';
import type { Packed } from './packed.ts';
import type { Place } from './place.ts';
import type { Presences } from './presence.ts';

/** What the engine makes room for when nobody chose a context, and the least that is worth a chat. */
const usualContext = 32_768;
const leastContext = 512;

export const starterId = 'starter' as ModelId;

export type Library = {
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
  /** Out of the list; its files stay. Returns what `put` needs to bring it back. */
  forget(modelId: ModelId): ModelRow;
  put(row: ModelRow): ModelEntry;
  find(modelId: ModelId): ModelRow;
  presetsOf(modelId: ModelId): ModelRow[];
  /** `sampling`: what the user set for this model. */
  target(modelId: ModelId | null): { target: LoadTarget; name: string; sampling: SamplingSettings };
  /** Looks whether its files are there: what `target` knows is from the last look. */
  look(modelId: ModelId | null): Promise<void>;
  /** @throws LonghandError `template-failed` when its template cannot be rendered; then nothing is changed */
  configure(modelId: ModelId, settings: ModelSettings): Promise<ModelEntry>;
  duplicate(modelId: ModelId, name: string): ModelEntry;
  preview(modelId: ModelId, template: string | null): Promise<Preview>;
  /** @throws LonghandError `model-missing`, `model-unsupported` when it writes text */
  encoder(modelId: ModelId): { target: EncoderTarget; name: string };
  /** Those that are here, last used first. */
  encoders(): ModelId[];
  /** The cross-encoder that documents are searched with; null when none is installed. */
  ranker(): EncoderTarget | null;
  thinksByDefault(modelId: ModelId): boolean;
  parametersOf(modelId: ModelId): number;
  used(modelId: ModelId): void;
  /** With `load`: loads the default, else the last used model, so that the first question need not wait. Then looks at the
   *  built-in one, so that the list can say what it is. A model that fails says so when it is asked something. */
  warmUp(load: boolean): Promise<void>;
};

export type LibraryOptions = {
  db: Database;
  engine: Engine;
  emit: Emit;
  settings: () => Settings;
  /** Bytes a model may take now, when what is in memory makes room for it. */
  memoryLimit: () => number;
  /** Where the files are that are our own. */
  place: Pick<Place, 'owns'>;
  presences: Presences;
  /** Where packed weights are kept. */
  packed: Pick<Packed, 'fileOf'>;
  disk: Disk;
  glance: Glance;
  /** Folder of the model that ships with the app. */
  starter: string;
  now: () => number;
};

export function createLibrary(options: LibraryOptions): Library {
  const { db, engine, emit, settings, place, presences, starter, now } = options;
  if (!findModel(db, starterId)) addModel(db, { id: starterId, name: 'Starter', path: null, facts: null }, now());

  /** As they stand in the database; this process alone writes them. */
  let rows: ModelRow[] | null = null;
  const known = (): ModelRow[] => {
    rows ??= listModels(db);
    return rows;
  };
  const paths = () => known().flatMap(({ path }) => (path === null ? [] : [path]));
  const linkedPaths = () => paths().filter((path) => !place.owns(path));
  const entryOf = (row: ModelRow): ModelEntry => {
    const { id, name, path, lastUsedAt, facts, settings, presetOf } = row;
    const found = path === null ? 'here' : presences.of(path);
    return {
      id,
      name,
      path,
      builtIn: path === null && presetOf === null,
      linked: path !== null && !place.owns(path),
      missing: found !== 'here',
      away: found === 'away',
      lastUsedAt,
      description: facts?.description ?? null,
      thinking: facts?.thinking ?? null,
      settings,
      presetOf,
    };
  };
  const changed = () => {
    rows = null;
    emit('models.changed', known().map(entryOf));
  };

  const isThere = (path: string | null): path is string => path !== null && presences.of(path) === 'here';
  const encoderTarget = (path: string): EncoderTarget => {
    const { device, threads } = settings();
    return { path, device, threads };
  };

  async function add(given: string, name?: string): Promise<ModelEntry> {
    const path = await modelPath(given);
    const before = findModelByPath(db, path);
    const facts = await engine.ask('inspect', { path });
    if (!facts.description.supported) {
      throw new LonghandError(
        'model-unsupported',
        `[model] ${path}: ${facts.description.problems[0] ?? 'not supported'}`,
        {
          details: { problems: facts.description.problems },
        },
      );
    }
    const called = plainName(name ?? (await nameOf(path))) || 'Model';
    const id = before?.id ?? (newId(now()) as ModelId);
    if (before) setModelFacts(db, id, facts);
    else addModel(db, { id, name: called, path, facts }, now());
    await presences.look([path]);
    changed();
    return entryOf(find(id));
  }

  function find(modelId: ModelId): ModelRow {
    const row = findModel(db, modelId);
    if (!row) throw new LonghandError('model-missing', `[models] no model ${modelId}`);
    return row;
  }

  function target(modelId: ModelId | null) {
    const row = find(modelId ?? settings().defaultModelId ?? starterId);
    const path = row.path ?? starter;
    needFiles(path);
    guardMemory(row);
    const { name, settings: own } = row;
    const device = own.device ?? settings().device;
    const target = { modelId: row.id, path, device, threads: settings().threads, contextLength: contextOf(row) };
    return {
      target: { ...target, template: own.template, packed: packedOf(row) },
      name,
      sampling: own.sampling,
    };
  }

  /** Null for the built-in model too: its weights are read where they stand. */
  const packedOf = (row: ModelRow) => (settings().keepPacked && row.path !== null ? options.packed.fileOf(row) : null);

  /** @throws LonghandError `model-missing`, with `away` when its drive may come back */
  function needFiles(path: string): void {
    const found = presences.of(path);
    if (found === 'away') throw awayError(path);
    if (found === 'missing') throw new LonghandError('model-missing', `[models] ${path} is not there any more`);
  }

  const contextOf = (row: ModelRow) => row.settings.contextLength ?? settings().contextLength;

  /** The same forecast that a download shows: a load that cannot end well is not begun. What is in memory already is not
   *  asked again. */
  function guardMemory(row: ModelRow) {
    const { id, name, facts } = row;
    if (!facts || engine.target()?.modelId === id) return;
    const { description } = facts;
    const contextLength = Math.min(contextOf(row) ?? usualContext, description.contextLength);
    const limitBytes = options.memoryLimit();
    const needs = forecast(description, { limitBytes, bandwidth: null }, { contextLength });
    if (needs.verdict !== 'too-large') return;
    // Without a wish the engine takes a context that fits; so only a model that fits with none is refused.
    const { longestContext } = needs;
    if (contextOf(row) === null && longestContext >= leastContext) return;
    throw new LonghandError(
      'out-of-memory',
      `[models] ${name} needs ${gigabytes(needs.total)} with ${contextLength} tokens of context, ${gigabytes(limitBytes)} are free; ` +
        (longestContext >= leastContext
          ? `the longest context that fits is ${longestContext}`
          : 'it fits with no context'),
      { details: { needed: needs.total, limit: limitBytes, contextLength, longestContext } },
    );
  }

  /** A GGUF file, or the folder of a safetensors or MLX model; naming one of its files means the folder.
   *  @throws LonghandError `bad-request`, `not-found`, `unreadable` */
  async function modelPath(given: string): Promise<string> {
    const path = given.startsWith('~/') ? join(process.env.HOME ?? '', given.slice(2)) : given;
    if (!isAbsolute(path)) throw new LonghandError('bad-request', `[models] "${given}" is not a full path`);
    const whole = resolve(path);
    const silent = { slow: 'silent', busy: () => 'silent' as const } as const;
    const kind = await options.glance<Kind | 'silent'>(whole, () => options.disk.kind(whole), silent);
    if (kind === 'silent') throw new LonghandError('unreadable', `[models] the disk of ${whole} does not answer`);
    if (kind === null) throw new LonghandError('not-found', `[models] nothing is at ${whole}`);
    return kind === 'file' && !whole.toLowerCase().endsWith('.gguf') ? dirname(whole) : whole;
  }

  /** The name the files give themselves, else that of the folder or file. Folders of the Hugging Face cache are hashes, so
   *  there the repository's name is used. */
  async function nameOf(path: string): Promise<string> {
    const repository = path.match(/models--[^/\\]+--([^/\\]+)/)?.[1];
    if (repository !== undefined) return repository;
    return declaredName(await options.disk.text(join(path, 'config.json'))) ?? basename(path).replace(/\.gguf$/i, '');
  }

  return {
    async list() {
      await presences.look(paths());
      return known().map(entryOf);
    },
    async look(modelId) {
      const path = findModel(db, modelId ?? settings().defaultModelId ?? starterId)?.path;
      if (path) await presences.look([path]);
    },
    entryOf,
    linkedPaths,
    refresh: changed,
    add,
    find,
    presetsOf: (modelId) => presetsOf(db, modelId),
    inspect: async (given) => (await engine.ask('inspect', { path: await modelPath(given) })).description,
    forget(modelId) {
      if (modelId === starterId)
        throw new LonghandError('bad-request', '[models] the built-in model cannot be removed');
      const row = find(modelId);
      removeModel(db, modelId);
      changed();
      return row;
    },
    put(row) {
      addModel(db, row, now());
      if (row.lastUsedAt !== null) setModelUsed(db, row.id, row.lastUsedAt);
      changed();
      return entryOf(row);
    },
    target,
    async configure(modelId, wanted) {
      const row = find(modelId);
      const { template } = wanted;
      if (template !== null) await engine.ask('preview', { path: row.path ?? starter, template });
      setModelSettings(db, modelId, wanted);
      changed();
      return entryOf({ ...row, settings: wanted });
    },
    duplicate(modelId, name) {
      const { path, facts, settings: own, presetOf } = find(modelId);
      const id = newId(now()) as ModelId;
      addModel(db, { id, name, path, facts, settings: own, presetOf: presetOf ?? modelId }, now());
      changed();
      return entryOf(find(id));
    },
    preview: (modelId, template) => engine.ask('preview', { path: find(modelId).path ?? starter, template }),
    encoder(modelId) {
      const { path, name, facts } = find(modelId);
      if (path === null || !facts?.description.encoder || facts.description.ranker) {
        throw new LonghandError(
          'model-unsupported',
          `[models] ${name} gives no vectors; documents are searched with an encoder`,
        );
      }
      needFiles(path);
      return { target: encoderTarget(path), name };
    },
    encoders: () =>
      known()
        .filter(({ path, facts }) => facts?.description.encoder && !facts.description.ranker && isThere(path))
        .map(({ id }) => id),
    ranker() {
      const found = known().find(({ path, facts }) => facts?.description.ranker && isThere(path));
      return found?.path ? encoderTarget(found.path) : null;
    },
    parametersOf: (modelId) => findModel(db, modelId)?.facts?.description.parameters ?? 0,
    thinksByDefault: (modelId) => findModel(db, modelId)?.facts?.thinking.byDefault ?? false,
    used(modelId) {
      setModelUsed(db, modelId, now());
      changed();
    },
    async warmUp(load) {
      await presences.look(paths());
      const row = findModel(
        db,
        settings().defaultModelId ?? known().find(({ facts }) => !facts?.description.encoder)?.id ?? starterId,
      );
      const wanted = load && settings().warmStart && row && (row.path === null || presences.of(row.path) === 'here');
      try {
        if (wanted) await engine.load(target(row.id).target);
      } catch {
        // It says so when it is asked something.
      }
      const facts = await engine.ask('inspect', { path: starter }).catch(() => null); // asked again at the next start
      if (!facts) return;
      setModelFacts(db, starterId, facts);
      changed();
    },
  };
}

const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GB`;

/** What is said of files on a drive that is not there: nothing is lost. */
export const awayError = (path: string) =>
  new LonghandError('model-missing', `[models] the drive or folder of ${path} is not there`, {
    hint: 'The drive or folder of this model is not there. It can be used again as soon as that is back.',
    details: { reason: 'away' },
  });

// Control characters, and marks that turn or hide text: a name must read as it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNREADABLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const MOST_NAME = 200;

/** What the files of somebody say they are called, as a line of text. */
const plainName = (name: string): string => name.replace(UNREADABLE, '').trim().slice(0, MOST_NAME);

/** What a configuration says its model is called. */
function declaredName(text: string | null): string | null {
  try {
    const config: unknown = JSON.parse(text ?? '');
    const name = typeof config === 'object' && config !== null && '_name_or_path' in config ? config._name_or_path : '';
    return typeof name === 'string' && name !== '' && !isAbsolute(name) ? basename(name) : null;
  } catch {
    return null;
  }
}
