import type { LoadTarget } from '../../engine/ipc-protocol.ts';
import { LonghandError, type ModelEntry } from '../../protocol/index.ts';
import type { ModelRow, RemoteModel } from '../../store/models/models.ts';

//  Remote models in the library: they have no files, and are never loaded.

export type AddressInfo = (model: RemoteModel | null) => ModelEntry['remote'];

/** The target of a remote model; the fields for loading are empty. */
export function remoteTarget(
  row: ModelRow,
  { engineId, model }: RemoteModel,
  kvType: LoadTarget['kvType'],
): LoadTarget {
  const contextLength = remoteContext(row) || null;
  const nothing = {
    path: '',
    device: null,
    threads: null,
    template: null,
    packed: null,
    cacheBytes: 0,
    cacheDisk: null,
  };
  return { ...nothing, modelId: row.id, contextLength, kvType, remote: { engineId, model, contextLength } };
}

/** Context length; 0: set neither by the engine nor by the user. */
export const remoteContext = ({ settings, remote }: ModelRow): number =>
  settings.contextLength ?? remote?.contextLength ?? 0;

/** @throws LonghandError `model-unsupported` */
export function needHere({ name, remote }: ModelRow): void {
  if (!remote) return;
  throw new LonghandError('model-unsupported', `[models] ${name} runs elsewhere; its files are not here`, {
    details: { reason: 'runs-elsewhere' },
  });
}

/** Engines do not report this: a model may think unless asked not to. */
export const THINKS: NonNullable<ModelEntry['thinking']> = { able: true, byDefault: true };
