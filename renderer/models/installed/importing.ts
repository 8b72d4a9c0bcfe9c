import { create } from 'zustand';
import { failureOf, LonghandError } from '../../../app/protocol/index.ts';
import { core, placeFolder } from '../../bridge.ts';
import { sentenceOf } from '../../sentences.ts';
import { useModels, withArrival } from '../../stores/models/store.ts';

/** The state of an import; problems are shown beside the field. */
export const useImport = create<{ open: boolean; busy: boolean; problem: string | null }>()(() => ({
  open: false,
  busy: false,
  problem: null,
}));

/** Links files in place. */
export const linkIn = (path: string): Promise<void> => working(() => link(path));

/** Copies them into the library, as a download from a folder. */
export const copyIn = (path: string, name?: string): Promise<void> => working(() => copy(path, name));

/** A model that was dropped or chosen. `opens` and the paths of `parts` are relative to what was dropped; `whole`: the path on
 *  disk of what is opened, null in a browser. */
export type ImportedModel = {
  name: string;
  opens: string;
  parts: readonly { path: string; file: File }[];
  whole: string | null;
};

/** Imports models that were dropped or chosen, one after the other. The desktop app knows their paths and uses them in place;
 *  a browser uploads them, so they are copied. False if one of them was refused. */
export async function importModels(models: readonly ImportedModel[]): Promise<boolean> {
  if (models.length === 0) return true;
  useImport.setState({ open: true, busy: true, problem: null });
  const problems: string[] = [];
  for (const model of models) {
    const problem = await importOne(model).then(
      () => null,
      (error: unknown) => `${model.name}: ${sentenceOf(failureOf(error))}`,
    );
    if (problem !== null) problems.push(problem);
  }
  useImport.setState({ open: problems.length > 0, busy: false, problem: problems.join(' ') || null });
  return problems.length === 0;
}

async function importOne({ name, opens, parts, whole }: ImportedModel): Promise<void> {
  if (whole !== null) return link(whole);
  if (/\.safetensors$/i.test(opens)) {
    throw new LonghandError('bad-request', `[import] ${name} is only a part of a model`, {
      details: { reason: 'part-of-a-model' },
    });
  }
  const folder = await placeFolder(parts);
  return copy(opens === '' ? folder : `${folder}/${opens}`, name);
}

async function link(path: string): Promise<void> {
  const model = await core.call('models.import', { path });
  useModels.setState({ tab: 'installed', installed: model.id });
}

async function copy(path: string, name?: string): Promise<void> {
  useModels.setState({ arrived: null });
  await core.call('downloads.start', { reference: path, ...(name !== undefined && { name }) });
  // A small model, or one that is already here, may arrive before the response.
  useModels.setState((state) => withArrival(state, { tab: 'downloads' }));
}

async function working(work: () => Promise<void>): Promise<void> {
  useImport.setState({ busy: true, problem: null });
  try {
    await work();
    useImport.setState({ open: false, busy: false });
  } catch (error) {
    useImport.setState({ open: true, busy: false, problem: sentenceOf(failureOf(error)) });
  }
}
