import { failureOf, type ModelDetails, type ModelEntry } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';

export type Checked = {
  checked: number;
  damaged: ModelEntry[];
  /** Models whose files could not be read now, which says nothing about damage. */
  unchecked: ModelEntry[];
};

/** Whether Longhand downloaded or made the files, and so knows their hashes. */
export const isOurs = ({ ownership }: Pick<ModelDetails, 'ownership'>): boolean =>
  ownership === 'downloaded' || ownership === 'made';

/** Hashes every file that Longhand downloaded, one model after the other, and reports which differ from what was published. */
export async function checkFiles(
  models: readonly ModelEntry[],
  begins: (model: ModelEntry, checked: number) => void,
): Promise<Checked> {
  const all: Checked = { checked: 0, damaged: [], unchecked: [] };
  for (const model of models) {
    const details = await core.call('models.details', { modelId: model.id }).catch(() => null);
    if (details !== null && !isOurs(details)) continue;
    begins(model, all.checked);
    const found = await core.call('models.verify', { modelId: model.id }).catch((error) => failureOf(error));
    if ('code' in found) {
      // Removed meanwhile, or not downloaded by us: nothing to check.
      if (found.code !== 'cancelled' && found.details?.reason !== 'not-ours') all.unchecked.push(model);
      continue;
    }
    all.checked++;
    if (found.damaged.length > 0) all.damaged.push(model);
  }
  return all;
}
