import { takeOpened } from '../../bridge.ts';
import { useShell } from '../../stores/shell.ts';
import { importModels } from './importing.ts';

/** Imports model files that the desktop opened with the app, in place. */
export async function importOpened(): Promise<void> {
  const paths = await takeOpened();
  if (paths.length === 0) return;
  useShell.getState().go({ kind: 'models' });
  const nameOf = (path: string) => path.split(/[\\/]/).at(-1) ?? path;
  await importModels(paths.map((path) => ({ name: nameOf(path), opens: nameOf(path), parts: [], whole: path })));
}
