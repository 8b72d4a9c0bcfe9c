import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findExternalModels } from '../../../../app/models/external/scan.ts';
import type { ExternalModel } from '../../../../app/protocol/index.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'longhand-homes-'));
});
afterEach(async () => {
  await rm(home, { recursive: true });
});

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
  return join(home, path);
}
async function found(env: Record<string, string> = {}): Promise<ExternalModel[]> {
  const all: ExternalModel[] = [];
  for await (const model of findExternalModels({ home, env })) all.push(model);
  return all.filter((model) => model.path.startsWith(home));
}

test('models of six programs are found where they are', async () => {
  const cache = '.cache/huggingface/hub/models--acme--tiny';
  const blob = await put(`${cache}/blobs/abc`, 'weights');
  await put(`${cache}/snapshots/c0ffee/config.json`, '{}');
  await symlink(blob, join(home, cache, 'snapshots/c0ffee/model.safetensors'));
  await put(`${cache}/refs/main`, 'c0ffee');
  await put('Documents/huggingface/models/mlx-community/tiny-4bit/config.json', '{}');
  await put('Documents/huggingface/models/mlx-community/tiny-4bit/model.safetensors', '12');
  await put('.lmstudio/models/acme/tiny-GGUF/tiny-Q4_0.gguf', '12345');
  const digest = 'a'.repeat(64);
  await put(`.ollama/models/blobs/sha256-${digest}`, 'gguf');
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}` }];
  await put('.ollama/models/manifests/registry.ollama.ai/library/tiny/1b', JSON.stringify({ layers }));
  await put('jan/models/acme/tiny/model.gguf', '123');
  await put('.local/share/nomic.ai/GPT4All/Tiny.gguf', '1');

  expect(await found()).toEqual([
    {
      app: 'Hugging Face cache',
      name: 'acme/tiny',
      kind: 'safetensors',
      path: join(home, cache, 'snapshots/c0ffee'),
      bytes: 7,
    },
    expect.objectContaining({ app: 'MLX', name: 'mlx-community/tiny-4bit', kind: 'safetensors', bytes: 2 }),
    expect.objectContaining({ app: 'LM Studio', name: 'acme/tiny-GGUF: tiny-Q4_0', bytes: 5 }),
    expect.objectContaining({
      app: 'Ollama',
      name: 'tiny:1b',
      path: join(home, `.ollama/models/blobs/sha256-${digest}`),
    }),
    expect.objectContaining({ app: 'Jan', name: 'tiny: model' }),
    expect.objectContaining({ app: 'GPT4All', name: 'Tiny' }),
  ]);
});

test('a split set is one model, a vision projector is none', async () => {
  const folder = '.lmstudio/models/acme/big';
  await put(`${folder}/big-00001-of-00002.gguf`, '123');
  await put(`${folder}/big-00002-of-00002.gguf`, '4567');
  await put(`${folder}/mmproj-big.gguf`, 'x');
  expect(await found()).toEqual([expect.objectContaining({ name: 'acme/big: big-00001-of-00002', bytes: 7 })]);
});

test('the same file under two names is one model', async () => {
  const file = await put('.lmstudio/models/acme/one/one.gguf', '123');
  await mkdir(join(home, 'jan/models/one'), { recursive: true });
  await symlink(file, join(home, 'jan/models/one/one.gguf'));
  expect(await found()).toHaveLength(1);
});

test('broken manifests, dangling links and missing folders are passed over, and nothing is touched', async () => {
  await put('.ollama/models/manifests/x/y/z', 'not json');
  await put(
    '.ollama/models/manifests/x/y/w',
    JSON.stringify({ layers: [{ mediaType: 'application/vnd.ollama.image.model', digest: 'sha256:../../evil' }] }),
  );
  // A manifest that leads to a file of the user, which is there.
  await put('diary.txt', 'private');
  const digest = 'sha256:x/../../../../diary.txt';
  await put(
    '.ollama/models/manifests/x/y/v',
    JSON.stringify({ layers: [{ mediaType: 'application/vnd.ollama.image.model', digest }] }),
  );
  await mkdir(join(home, '.lmstudio/models/acme/gone'), { recursive: true });
  await symlink(join(home, 'nowhere'), join(home, '.lmstudio/models/acme/gone/gone.gguf'));
  const before = (await readdir(home, { recursive: true })).sort();
  expect(await found()).toEqual([]);
  expect((await readdir(home, { recursive: true })).sort()).toEqual(before);
});

test('where the environment says that programs keep their models elsewhere, they are found there', async () => {
  const at = (path: string) => join(home, path);
  const hub = (folder: string, name: string) => put(`${folder}/models--acme--${name}/snapshots/c1/${name}.gguf`, '123');
  await hub('own-hub', 'one');
  await hub('hf/hub', 'two');
  await hub('cache/huggingface/hub', 'three');
  const names = async (env: Record<string, string>) => (await found(env)).map(({ name }) => name);
  const cache = { XDG_CACHE_HOME: at('cache') };
  expect(await names(cache)).toEqual(['acme/three: three']);
  expect(await names({ ...cache, HF_HOME: at('hf') })).toEqual(['acme/two: two']);
  expect(await names({ ...cache, HF_HOME: at('hf'), HF_HUB_CACHE: at('own-hub') })).toEqual(['acme/one: one']);
  await put('config/Jan/data/llamacpp/models/acme/tiny/deep/model.gguf', '1');
  await put('config/Jan/data/llamacpp/models/acme/tiny/deep/deeper/model.gguf', '1');
  expect(await names({ XDG_CONFIG_HOME: at('config') })).toEqual(['deep: model']);
  await put('data/nomic.ai/GPT4All/Tiny.gguf', '1');
  expect(await names({ XDG_DATA_HOME: at('data') })).toEqual(['Tiny']);
  const digest = `sha256:${'b'.repeat(64)}`;
  await put(`ollama/blobs/${digest.replace(':', '-')}`, 'gguf!');
  const layers = [{ mediaType: 'license' }, { mediaType: 'application/vnd.ollama.image.model', digest }];
  await put('ollama/manifests/registry/library/tiny/2b', JSON.stringify({ layers }));
  await put('ollama/manifests/registry/library/tiny/broken', '{');
  await put('ollama/manifests/registry/library/tiny/none', JSON.stringify({ layers: layers.slice(0, 1) }));
  expect(await found({ OLLAMA_MODELS: at('ollama') })).toEqual([
    { app: 'Ollama', name: 'tiny:2b', kind: 'gguf', path: at(`ollama/blobs/${digest.replace(':', '-')}`), bytes: 5 },
  ]);
});

test('of a repository the current commit counts, or the last where none is named; of a set of files the first, with all bytes', async () => {
  const repository = '.cache/huggingface/hub/models--acme--tiny';
  for (const commit of ['c1', 'c2', 'c3']) await put(`${repository}/snapshots/${commit}/${commit}.gguf`, '1');
  const names = async () => (await found()).map(({ name }) => name);
  expect(await names()).toEqual(['acme/tiny: c3']);
  await put(`${repository}/refs/main`, 'c2\n');
  expect(await names()).toEqual(['acme/tiny: c2']);
  await put(`${repository}/refs/main`, 'gone');
  expect(await names()).toEqual(['acme/tiny: c3']);
  await rm(join(home, '.cache'), { recursive: true });

  const folder = '.lmstudio/models/acme/large';
  for (const [part, text] of [
    ['00001', '12'],
    ['00002', '345'],
  ] as const)
    await put(`${folder}/large-${part}-of-00002.gguf`, text);
  await put(`${folder}/mmproj-F16.gguf`, '1');
  await put(`${folder}/other.gguf`, '1234567');
  expect((await found()).map(({ name, bytes }) => [name, bytes])).toEqual([
    ['acme/large: large-00001-of-00002', 5],
    ['acme/large: other', 7],
  ]);
});
