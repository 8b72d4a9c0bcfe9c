import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder, places, root, startCore } from '../../support/core/core.ts';
import { source, startHost } from '../../support/core/kills.ts';
import { startHub } from '../../support/fakes/hub.ts';

//  The model commands as a user types them, against a hub on this machine.

const starter = join(places.resources, 'starter-model');
const starterFiles = () =>
  Object.fromEntries(
    readdirSync(starter)
      .filter((name) => /\.(json|safetensors|jinja)$/.test(name))
      .map((name) => [name, readFileSync(join(starter, name))]),
  );

function longhand(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; said: Said; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'app/cli/main.ts'), ...args, '--json'], {
      env: { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined, ...env },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (text) => (out += text));
    child.stderr.on('data', (text) => (err += text));
    child.on('close', (code) => resolve({ code, said: JSON.parse(out || '{}'), err }));
  });
}
type Said = {
  library?: { folder: string; move: unknown };
  models?: { name: string; damaged?: string[]; repository?: string; app?: string }[];
  model?: { name: string; path: string };
  variants?: { id: string; exact: boolean }[];
  freed?: number;
  error?: { code: string; message: string };
};

async function folderWithHub() {
  const hub = await startHub({ files: starterFiles() });
  onTestFinished(() => hub.stop());
  const dataFolder = newFolder();
  const { host, client } = await startCore({ dataFolder });
  await client.call('settings.set', { hubEndpoint: hub.url });
  await host.close();
  return { hub, dataFolder };
}

test('search, look, pull, list, verify, rm', async () => {
  const { hub, dataFolder } = await folderWithHub();
  const data = ['--data', dataFolder];
  expect((await longhand(['search', 'tiny', ...data])).said.models).toMatchObject([{ name: 'acme/tiny' }]);
  expect((await longhand(['pull', 'acme/tiny', '--look', ...data])).said.variants).toMatchObject([{ exact: true }]);
  const pulled = await longhand(['pull', 'acme/tiny', ...data]);
  expect(pulled.code, pulled.err).toBe(0);
  const path = pulled.said.model?.path ?? '';
  expect(readFileSync(join(path, 'model.safetensors')).equals(hub.bytesOf('model.safetensors'))).toBe(true);
  expect((await longhand(['list', ...data])).said.models?.map(({ name }) => name)).toContain('tiny');
  expect(await longhand(['verify', ...data])).toMatchObject({
    code: 0,
    said: { models: [{ name: 'tiny', damaged: [] }] },
  });
  writeFileSync(join(path, 'tokenizer.json'), 'damaged');
  expect(await longhand(['verify', 'tiny', ...data])).toMatchObject({
    code: 1,
    said: { models: [{ damaged: ['tokenizer.json'] }] },
  });
  const removed = await longhand(['rm', 'tiny', ...data]);
  expect(removed.said.freed).toBeGreaterThan(17_000_000);
  expect(readdirSync(join(dataFolder, 'models', 'blobs'))).toEqual([]);
  expect(await longhand(['rm', 'tiny', ...data])).toMatchObject({ code: 1, said: { error: { code: 'not-found' } } });
}, 120_000);

test('move takes the library to another folder, and back', async () => {
  const { hub, dataFolder } = await folderWithHub();
  const data = ['--data', dataFolder];
  const pulled = await longhand(['pull', 'acme/tiny', ...data]);
  const home = join(dataFolder, 'models');
  const folder = join(newFolder(), 'disk');
  expect((await longhand(['move', folder, ...data])).said.library).toMatchObject({ folder, move: null });
  const path = (pulled.said.model?.path ?? '').replace(home, folder);
  expect(readFileSync(join(path, 'model.safetensors')).equals(hub.bytesOf('model.safetensors'))).toBe(true);
  expect((await longhand(['move', '--home', ...data])).said.library).toMatchObject({ folder: home, move: null });
  expect(readdirSync(home).sort()).toEqual(expect.arrayContaining(['blobs']));
}, 240_000);

test('while the app runs, a command works through it', async () => {
  const dataFolder = newFolder();
  await startHost(dataFolder, source);
  const copy = join(newFolder(), 'mine');
  mkdirSync(copy);
  for (const [name, bytes] of Object.entries(starterFiles())) writeFileSync(join(copy, name), bytes);
  expect((await longhand(['import', copy, '--data', dataFolder])).said.model).toMatchObject({
    name: 'mine',
    path: copy,
  });
  expect((await longhand(['list', '--data', dataFolder])).said.models?.map(({ name }) => name)).toContain('mine');
}, 60_000);

test.each(['link', 'adopt'])('models of other apps are listed by %s, which is its name and was it', async (name) => {
  const home = newFolder();
  mkdirSync(join(home, '.lmstudio', 'models', 'acme', 'tiny'), { recursive: true });
  writeFileSync(join(home, '.lmstudio', 'models', 'acme', 'tiny', 'tiny.gguf'), 'GGUF');
  const { said } = await longhand([name, '--data', newFolder()], { HOME: home });
  expect(said.models).toMatchObject([{ app: 'LM Studio' }]);
});
