import { z } from 'zod';
import {
  type ModelDescription,
  type ModelEntry,
  type ModelId,
  ModelSettings,
  RemoteEngineId,
} from '../../protocol/index.ts';
import type { Database, Value } from '../database/database.ts';
import { storedId, storedJson } from '../database/stored.ts';

/** Metadata extracted from the files of a model. */
export type ModelMetadata = { description: ModelDescription; thinking: NonNullable<ModelEntry['thinking']> };

/** A remote model as stored in the database. */
const RemoteModel = z.object({
  engineId: RemoteEngineId,
  model: z.string(),
  contextLength: z.number().nullable(),
  pictures: z.boolean(),
});
export type RemoteModel = z.infer<typeof RemoteModel>;

export type ModelRow = {
  id: ModelId;
  name: string;
  path: string | null;
  lastUsedAt: number | null;
  metadata: ModelMetadata | null;
  settings: ModelSettings;
  presetOf: ModelId | null;
  remote: RemoteModel | null;
};

type ModelColumns = {
  id: ModelId;
  name: string;
  path: string | null;
  last_used_at: number | null;
  preset_of: ModelId | null;
  metadata: string | null;
  settings: string | null;
  remote: string | null;
};

type Named = [id: ModelId, name: string, path: string | null, lastUsedAt: number | null, presetOf: ModelId | null];

type Parts = [
  named: Named,
  metadata: Packed | null,
  settings: Partial<ModelSettings> | null,
  remote: RemoteModel | null,
];

/** Selects all rows as one JSON text: for thousands of models this takes a third of the time of separate rows. */
function modelsWhere(db: Database, what: string, ...values: Value[]): ModelRow[] {
  const row = db.get<{ text: string | null; count: number }>(
    `SELECT group_concat(line) AS text, count(*) AS count FROM (
       SELECT json_array(id, name, path, last_used_at, preset_of) || ',' || coalesce(metadata, 'null') || ',' ||
         coalesce(settings, 'null') || ',' || coalesce(remote, 'null') AS line
       FROM models ${what})`,
    ...values,
  );
  const parsed = storedJson(z.array(z.any()), `[${row?.text ?? ''}]`, []);
  if (parsed.length !== 4 * (row?.count ?? 0)) return modelsOneByOne(db, what, ...values);
  const rows: ModelRow[] = [];
  for (let at = 0; at < parsed.length; at += 4) rows.push(modelOf(parsed.slice(at, at + 4) as Parts));
  return rows;
}

/** The same for a database in which the JSON of a row is damaged. */
const modelsOneByOne = (db: Database, what: string, ...values: Value[]): ModelRow[] =>
  db
    .all<ModelColumns>(
      `SELECT id, name, path, last_used_at, preset_of, metadata, settings, remote FROM models ${what}`,
      ...values,
    )
    .map(({ id, name, path, last_used_at, preset_of, metadata, settings, remote }) =>
      modelOf([
        [id, name, path, last_used_at, preset_of],
        storedJson(z.any(), metadata, null),
        storedJson(z.any(), settings, null),
        storedJson(z.any(), remote, null),
      ]),
    );

function modelOf([[id, name, path, lastUsedAt, presetOf], metadata, settings, remote]: Parts): ModelRow {
  return {
    id,
    name,
    path,
    lastUsedAt,
    metadata: isPacked(metadata) ? unpacked(metadata) : null,
    settings: completed(settings),
    presetOf: storedId(presetOf),
    remote: remote && (RemoteModel.safeParse(remote).data ?? null),
  };
}

/** Last used first (never used: NULL, which comes last), then last added. */
export const listModels = (db: Database): ModelRow[] => modelsWhere(db, 'ORDER BY last_used_at DESC, added_at DESC');

export const findModel = (db: Database, id: ModelId): ModelRow | undefined => modelsWhere(db, 'WHERE id = ?', id)[0];

export const findModelByPath = (db: Database, path: string): ModelRow | undefined =>
  modelsWhere(db, 'WHERE path = ? AND preset_of IS NULL', path)[0];

/** Models whose metadata was extracted by an earlier version, or is damaged. */
export const modelsToInspect = (db: Database): Pick<ModelRow, 'id' | 'path'>[] =>
  db.all(
    `SELECT id, path FROM models WHERE preset_of IS NULL AND metadata IS NOT NULL
     AND iif(json_valid(metadata), json_array_length(metadata), 0) < ?`,
    FIELDS,
  );

export type NewModel = Pick<ModelRow, 'id' | 'name' | 'path' | 'metadata'> &
  Partial<Pick<ModelRow, 'settings' | 'presetOf' | 'remote'>>;

export const addModel = (
  db: Database,
  { id, name, path, metadata, settings, presetOf, remote }: NewModel,
  now: number,
) =>
  db.run(
    'INSERT INTO models (id, name, path, added_at, metadata, settings, preset_of, remote) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    id,
    name,
    path,
    now,
    metadata && packed(metadata),
    settings ? JSON.stringify(settings) : null,
    presetOf ?? null,
    remote ? JSON.stringify(remote) : null,
  );

/** Models that use the files of this one. */
export const presetsOf = (db: Database, id: ModelId): ModelRow[] => modelsWhere(db, 'WHERE preset_of = ?', id);

export const setModelSettings = (db: Database, id: ModelId, settings: ModelSettings) =>
  db.run('UPDATE models SET settings = ? WHERE id = ?', JSON.stringify(settings), id);

export const setModelMetadata = (db: Database, id: ModelId, metadata: ModelMetadata) =>
  db.run('UPDATE models SET metadata = ? WHERE id = ?', packed(metadata), id);

export const setModelUsed = (db: Database, id: ModelId, now: number) =>
  db.run('UPDATE models SET last_used_at = ? WHERE id = ?', now, id);

export const setRemoteModel = (db: Database, id: ModelId, remote: RemoteModel) =>
  db.run('UPDATE models SET remote = ? WHERE id = ?', JSON.stringify(remote), id);

export const removeModel = (db: Database, id: ModelId) => db.run('DELETE FROM models WHERE id = ?', id);

const noSettings: ModelSettings = ModelSettings.parse({});

/** Fills in settings that an older version did not have. */
const completed = (settings: Partial<ModelSettings> | null): ModelSettings =>
  settings === null ? noSettings : (ModelSettings.safeParse({ ...noSettings, ...settings }).data ?? noSettings);

type Layer = ModelDescription['layers'][number];

/** Encodes a layer as one letter, lower case with experts: layers are most of the metadata. */
const letters: Record<Layer['kind'], string> = {
  attention: 'A',
  'gated-delta': 'D',
  lightning: 'L',
  sparse: 'S',
  'short-conv': 'C',
  latent: 'T',
  encoder: 'E',
};
const layerOf = new Map(
  Object.entries(letters).flatMap(([kind, letter]): [string, Layer][] => [
    [letter, { kind: kind as Layer['kind'], experts: false }],
    [letter.toLowerCase(), { kind: kind as Layer['kind'], experts: true }],
  ]),
);

/** Metadata in the database as an array: field names would be most of the text. */
type Packed = [
  able: 0 | 1,
  byDefault: 0 | 1,
  supported: 0 | 1,
  problems: string[],
  notices: string[],
  family: string,
  container: ModelDescription['container'],
  layers: string,
  hiddenSize: number,
  vocabularySize: number,
  contextLength: number,
  parameters: number,
  weightBytes: number,
  types: Record<string, number>,
  activeBytes: number,
  stateBytes: number,
  contextBytesPerToken: number,
  mtp: 0 | 1,
  encoder: 0 | 1,
  reranker: 0 | 1,
  vision?: [token: number, merge: number] | 0,
  memory?: ModelDescription['memory'],
];

/** Number of fields; rows of earlier versions have fewer. */
const FIELDS = 22;

const bit = (value: boolean): 0 | 1 => (value ? 1 : 0);

function packed({ thinking, description: of }: ModelMetadata): string {
  const layers = of.layers.map(({ kind, experts }) => (experts ? letters[kind].toLowerCase() : letters[kind])).join('');
  const values: Packed = [
    bit(thinking.able),
    bit(thinking.byDefault),
    bit(of.supported),
    of.problems,
    of.notices,
    of.family,
    of.container,
    layers,
    of.hiddenSize,
    of.vocabularySize,
    of.contextLength,
    of.parameters,
    of.weightBytes,
    of.types,
    of.activeBytes,
    of.stateBytes,
    of.contextBytesPerToken,
    bit(of.mtp),
    bit(of.encoder),
    bit(of.reranker),
    of.vision ? [of.vision.token, of.vision.merge] : 0,
    of.memory,
  ];
  return JSON.stringify(values);
}

const isPacked = (values: Packed | null): values is Packed =>
  Array.isArray(values) &&
  [5, 6, 7].every((at) => typeof values[at] === 'string') &&
  [8, 9, 10, 11, 12, 14, 15, 16].every((at) => typeof values[at] === 'number') &&
  [3, 4].every((at) => Array.isArray(values[at])) &&
  typeof values[13] === 'object';

const unpacked = (values: Packed): ModelMetadata => ({
  thinking: { able: values[0] === 1, byDefault: values[1] === 1 },
  description: {
    supported: values[2] === 1,
    problems: values[3],
    notices: values[4],
    family: values[5],
    container: values[6],
    layers: layersOf(values[7]),
    hiddenSize: values[8],
    vocabularySize: values[9],
    contextLength: values[10],
    parameters: values[11],
    weightBytes: values[12],
    types: values[13],
    activeBytes: values[14],
    stateBytes: values[15],
    contextBytesPerToken: values[16],
    mtp: values[17] === 1,
    encoder: values[18] === 1,
    reranker: values[19] === 1,
    vision: values[20] ? { token: values[20][0], merge: values[20][1] } : null,
    memory: values[21] ?? null,
  },
});

/** Cache: models of the same architecture share their layers. */
const known = new Map<string, Layer[]>();
const MAX_CACHED = 1000;

function layersOf(word: string): Layer[] {
  const shared = known.get(word);
  if (shared) return shared;
  const layers = [...word].flatMap((letter) => layerOf.get(letter) ?? []);
  if (known.size === MAX_CACHED) known.clear();
  known.set(word, layers);
  return layers;
}
