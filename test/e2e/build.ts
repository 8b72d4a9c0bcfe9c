import { join } from 'node:path';
import { build } from 'vite';

const root = join(import.meta.dirname, '..', '..');

/** What the tests open: the renderer as it ships, and the same over a core in memory for what no model says on demand. */
export default async function buildPages(): Promise<void> {
  await build({ configFile: join(root, 'renderer', 'vite.config.ts'), logLevel: 'error' });
  await build({ configFile: join(root, 'test', 'renderer', 'page', 'vite.config.ts'), logLevel: 'error' });
}
