import { create } from 'zustand';
import { failureOf } from '../../app/protocol/index.ts';
import { core, isElectron, placeFile } from '../bridge.ts';
import { t } from '../i18n.ts';
import { useModels } from './store.ts';

/** What is being imported; a problem is told beside the field. */
export const useImport = create<{ open: boolean; busy: boolean; problem: string | null }>()(() => ({
  open: false,
  busy: false,
  problem: null,
}));

/** Puts files in the list where they are. */
export const linkIn = (path: string): Promise<void> =>
  working(async () => {
    const model = await core.call('models.add', { path });
    useModels.setState({ tab: 'installed', installed: model.id });
  });

/** Copies them into the library, as a download from a folder. */
export const copyIn = (path: string, name?: string): Promise<void> =>
  working(async () => {
    await core.call('downloads.start', { reference: path, ...(name !== undefined && { name }) });
    useModels.setState({ tab: 'downloads' });
  });

/** Files that were dropped or chosen. The desktop app knows where they are and uses them there; a browser hands over their
 *  bytes, so they are copied. */
export async function importFiles(files: readonly File[]): Promise<void> {
  const [file] = files;
  if (!file) return;
  useImport.setState({ open: true, busy: true, problem: null });
  try {
    const { path, name } = await placeFile(file);
    await (isElectron() ? linkIn(path) : copyIn(path, name.replace(/\.gguf$/i, '')));
  } catch (error) {
    useImport.setState({ busy: false, problem: error instanceof Error ? error.message : String(error) });
  }
}

async function working(work: () => Promise<void>): Promise<void> {
  useImport.setState({ busy: true, problem: null });
  try {
    await work();
    useImport.setState({ open: false, busy: false });
  } catch (error) {
    const failure = failureOf(error);
    const problem = failure.hint ?? `${t(`errors.${failure.code}.what`)}. ${failure.message}`;
    useImport.setState({ open: true, busy: false, problem });
  }
}
