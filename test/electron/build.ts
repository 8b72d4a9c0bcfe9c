import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { lowerPage } from './old/page.ts';
import { fetchRuntime, findRuntime, oldApp, root } from './runtime.ts';

//  What the tests of the shell need before they start, for the set-up of npm test: an Electron, and for an old one the shipped
//  bundle (dist/) in the JavaScript of its time. Processes beside the main one run in Node and stay as they are.

const dist = join(root, 'dist');

async function lowerShell(): Promise<void> {
  rmSync(oldApp, { recursive: true, force: true });
  const at = (...path: string[]) => join(oldApp, 'dist', ...path);
  for (const folder of ['main', 'preload', 'renderer']) mkdirSync(at(folder), { recursive: true });
  await lower(join(dist, 'main', 'index.js'), at('main', 'index.cjs'), 'node12');
  await lower(join(dist, 'preload', 'preload.cjs'), at('preload', 'preload.cjs'), 'chrome83');
  await lowerPage(join(dist, 'renderer'), at('renderer'));
  for (const name of readdirSync(join(dist, 'main')).filter((file) => file !== 'index.js'))
    symlinkSync(join(dist, 'main', name), at('main', name));
  for (const name of ['build', 'resources']) symlinkSync(join(root, name), join(oldApp, name));
  const { name, version, productName } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(
    join(oldApp, 'package.json'),
    JSON.stringify({ name, version, productName, main: 'dist/main/index.cjs' }),
  );
}

async function lower(input: string, file: string, target: string): Promise<void> {
  const bundle = await rolldown({ input, platform: 'node', external: ['electron'], transform: { target } });
  await bundle.write({ file, format: 'cjs', codeSplitting: false });
}

await fetchRuntime().catch((error: Error) =>
  console.error(`  ${error.message}; tests of the desktop shell will say so`),
);
const { runtime } = findRuntime();
if (runtime?.old) await lowerShell();
