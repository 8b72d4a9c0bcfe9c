import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { LoadTarget } from '../engine/asks.ts';
import type { Engine } from '../engine/client.ts';
import {
  type Emit,
  LonghandError,
  type ModelDescription,
  type ModelEntry,
  type ModelId,
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
  removeModel,
  setModelFacts,
  setModelUsed,
} from '../store/models.ts';

export const starterId = 'starter' as ModelId;

export type Library = {
  list(): ModelEntry[];
  add(path: string): Promise<ModelEntry>;
  inspect(path: string): Promise<ModelDescription>;
  forget(modelId: ModelId): void;
  target(modelId: ModelId | null): { target: LoadTarget; name: string };
  thinksByDefault(modelId: ModelId): boolean;
  used(modelId: ModelId): void;
  /** Starts to load the default, else the last used model. A failure shows when it is asked something. */
  preload(): void;
  /** Looks at the built-in model, so that the list can say what it is. */
  describeStarter(): Promise<void>;
};

export type LibraryOptions = {
  db: Database;
  engine: Engine;
  emit: Emit;
  settings: () => Settings;
  /** Folder of the model that ships with the app. */
  starter: string;
  now: () => number;
};

export function createLibrary({ db, engine, emit, settings, starter, now }: LibraryOptions): Library {
  if (!findModel(db, starterId)) addModel(db, { id: starterId, name: 'Starter', path: null, facts: null }, now());

  const list = () => listModels(db).map(entryOf);
  const changed = () => emit('models.changed', list());

  async function add(given: string): Promise<ModelEntry> {
    const path = modelPath(given);
    const known = findModelByPath(db, path);
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
    const id = known?.id ?? (newId(now()) as ModelId);
    if (known) setModelFacts(db, id, facts);
    else addModel(db, { id, name: nameOf(path), path, facts }, now());
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
    if (!existsSync(path)) throw new LonghandError('model-missing', `[models] ${path} is not there any more`);
    const { device, threads, contextLength } = settings();
    return { target: { modelId: row.id, path, device, threads, contextLength }, name: row.name };
  }

  return {
    list,
    add,
    inspect: async (given) => (await engine.ask('inspect', { path: modelPath(given) })).description,
    forget(modelId) {
      if (modelId === starterId)
        throw new LonghandError('bad-request', '[models] the built-in model cannot be removed');
      removeModel(db, modelId);
      changed();
    },
    target,
    thinksByDefault: (modelId) => findModel(db, modelId)?.facts?.thinking.byDefault ?? false,
    used(modelId) {
      setModelUsed(db, modelId, now());
      changed();
    },
    preload() {
      const row = findModel(db, settings().defaultModelId ?? listModels(db)[0]?.id ?? starterId);
      if (row && existsSync(row.path ?? starter)) engine.load(target(row.id).target).catch(() => {});
    },
    async describeStarter() {
      setModelFacts(db, starterId, await engine.ask('inspect', { path: starter }));
      changed();
    },
  };
}

const entryOf = ({ id, name, path, lastUsedAt, facts }: ModelRow): ModelEntry => ({
  id,
  name,
  path,
  builtIn: path === null,
  missing: path !== null && !existsSync(path),
  lastUsedAt,
  description: facts?.description ?? null,
  thinking: facts?.thinking ?? null,
});

/** A GGUF file, or the folder of a safetensors or MLX model; naming one of its files means the folder.
 *  @throws LonghandError `bad-request`, `not-found` */
function modelPath(given: string): string {
  const path = given.startsWith('~/') ? join(process.env.HOME ?? '', given.slice(2)) : given;
  if (!isAbsolute(path)) throw new LonghandError('bad-request', `[models] "${given}" is not a full path`);
  const whole = resolve(path);
  if (!existsSync(whole)) throw new LonghandError('not-found', `[models] nothing is at ${whole}`);
  return statSync(whole).isFile() && !whole.toLowerCase().endsWith('.gguf') ? dirname(whole) : whole;
}

/** The name the files give themselves, else that of the folder or file. Folders of the Hugging Face cache are hashes, so
 *  there the repository's name is used. */
function nameOf(path: string): string {
  const repository = path.match(/models--[^/\\]+--([^/\\]+)/)?.[1];
  return repository ?? declaredName(path) ?? basename(path).replace(/\.gguf$/i, '');
}

function declaredName(path: string): string | null {
  try {
    const config: unknown = JSON.parse(readFileSync(join(path, 'config.json'), 'utf8'));
    const name = typeof config === 'object' && config !== null && '_name_or_path' in config ? config._name_or_path : '';
    return typeof name === 'string' && name !== '' && !isAbsolute(name) ? basename(name) : null;
  } catch {
    return null;
  }
}
