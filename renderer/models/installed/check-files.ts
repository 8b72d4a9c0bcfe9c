import { failureOf, type ModelEntry } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';

export type Checked = {
  checked: number;
  damaged: ModelEntry[];
  /** Those whose files could not be read now; that says nothing about them. */
  unchecked: ModelEntry[];
};

/** Hashes every file that Longhand fetched, one model after the other, and says which are not as they were published. */
export async function checkFiles(
  models: readonly ModelEntry[],
  begins: (model: ModelEntry, checked: number) => void,
): Promise<Checked> {
  const all: Checked = { checked: 0, damaged: [], unchecked: [] };
  for (const model of models) {
    const details = await core.call('models.details', { modelId: model.id }).catch(() => null);
    if (details !== null && details.ownership !== 'downloaded') continue;
    begins(model, all.checked);
    const found = await core.call('models.verify', { modelId: model.id }).catch((error) => failureOf(error));
    if ('code' in found) {
      // Removed meanwhile, or nothing of ours: there is nothing to check.
      if (found.code !== 'cancelled' && found.details?.reason !== 'not-ours') all.unchecked.push(model);
      continue;
    }
    all.checked++;
    if (found.damaged.length > 0) all.damaged.push(model);
  }
  return all;
}
