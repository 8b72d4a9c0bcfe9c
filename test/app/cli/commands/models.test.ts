// What the commands about models print for people; what programs read is tested in app/cli/models.test.ts.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { appWithCommands } from '../../../support/core/cli-app.ts';
import { newFolder } from '../../../support/core/core.ts';
import { startHub } from '../../../support/fakes/hub.ts';
import { starter } from '../../../support/models/models.ts';

vi.setConfig({ testTimeout: 60_000 });

const files = () =>
  Object.fromEntries(
    readdirSync(starter)
      .filter((name) => /\.(json|safetensors|jinja)$/.test(name))
      .map((name) => [name, readFileSync(join(starter, name))]),
  );

test('a model that is searched, looked at, downloaded, listed, checked and removed', async () => {
  const hub = await startHub({ files: files() });
  onTestFinished(() => hub.stop());
  const { client, dataFolder, here, run, ran } = await appWithCommands();
  await client.call('settings.set', { hubEndpoint: hub.url });

  expect(await ran('verify')).toEqual([0, '', 'No downloaded models yet.\n']);
  expect(await ran('search', 'tiny')).toEqual([0, 'model      downloads\nacme/tiny  3\n', '']);
  expect(await ran('pull', 'acme/tiny', '--look')).toEqual([0, '.  BF16  18.4 MB  runs\n', '']);

  const pulled = await run(['pull', 'acme/tiny', '--name', 'Mine'], true);
  const path = /^Mine {2}(\S+)\n$/.exec(pulled.out)?.[1] ?? '';
  expect(path.startsWith(join(dataFolder, 'models', 'acme--tiny@'))).toBe(true);
  expect(readdirSync(path)).toContain('model.safetensors');
  expect(pulled.err).toContain(`Mine ${'░'.repeat(28)} 0 %`);
  expect(pulled.err.endsWith('\r\x1b[K')).toBe(true);
  expect(await ran('list')).toEqual([
    0,
    `model    family   size     files\nMine     qwen3_5  17.9 MB  ${path}\nStarter  qwen3_5  17.9 MB  built in\n`,
    '',
  ]);

  expect(await ran('verify')).toEqual([0, 'Mine  18.4 MB  intact\n', '']);
  writeFileSync(join(path, 'tokenizer.json'), 'damaged');
  const [code, damaged] = await ran('verify', 'Mine');
  expect([code, damaged]).toEqual([
    1,
    expect.stringMatching(/^Mine {2}\S+ MB {2}damaged: tokenizer\.json, \S+ .?B to download again\n$/),
  ]);

  expect(await ran('move')).toEqual([0, `${join(dataFolder, 'models')}\n`, '']);
  expect(await ran('move', 'disk', '--plan')).toEqual([0, `${join(here, 'disk')}  on the same disk\n`, '']);
  expect(await ran('rm', path)).toEqual([0, expect.stringMatching(/^Mine removed, 1[78]\.\d MB freed\n$/), '']);
  expect(await ran('rm', 'Mine')).toEqual([1, '', '[models] no model "Mine"; models: Starter\n']);
});

test('a model of this computer: added, removed with its files kept; one of another app linked by its name', async () => {
  const home = newFolder();
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { here, ran } = await appWithCommands();
  cpSync(starter, join(here, 'mine'), { recursive: true });
  expect(await ran('import', 'mine')).toEqual([0, `mine  ${join(here, 'mine')}\n`, '']);
  expect(await ran('rm', 'mine')).toEqual([0, 'mine removed, its files are kept\n', '']);
  expect(readdirSync(join(here, 'mine'))).toContain('model.safetensors');

  expect(await ran('link')).toEqual([0, '', 'No models from other apps were found.\n']);
  const none = '[link] no other app has "tiny"; run longhand link to list them\n';
  expect(await ran('link', 'tiny')).toEqual([1, '', none]);
  const folder = join(home, '.lmstudio', 'models', 'acme', 'tiny');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tiny.gguf'), 'GGUF');
  const [code, rows] = await ran('link');
  expect([code, rows]).toEqual([0, expect.stringMatching(/^\S.* {2}LM Studio {2}4 B {2}\S+tiny\.gguf\n$/)]);
});
