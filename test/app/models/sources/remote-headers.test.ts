import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { network } from '../../../../app/models/network/http-request.ts';
import { hubSource } from '../../../../app/models/sources/hugging-face.ts';
import { readRemoteHeaders } from '../../../../app/models/sources/remote-headers.ts';
import { addon } from '../../../support/addon.ts';
import { content, type Hub, startHub } from '../../../support/fakes/hub.ts';
import { readSafetensors } from '../../../support/models/formats.ts';
import { type SeeingConfig, toSeeingGguf } from '../../../support/models/gguf-tower.ts';

const golden = join(import.meta.dirname, '../../../golden');
const never = new AbortController().signal;
const hubs: Hub[] = [];
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.stop()));
});

async function repositoryOf(files: Record<string, Buffer>) {
  const hub = await startHub({ files });
  hubs.push(hub);
  const repository = await hubSource({ id: 'mirror', url: hub.url, token: async () => null }).repository(
    'acme/tiny',
    null,
    never,
  );
  return { hub, repository };
}
const folder = (path: string, only: RegExp) =>
  Object.fromEntries(
    readdirSync(join(golden, path))
      .filter((name) => only.test(name))
      .map((name) => [name, readFileSync(join(golden, path, name))]),
  );

test('a safetensors model is known from its headers', async () => {
  const { hub, repository } = await repositoryOf(folder('containers/sharded', /^(config|model).*(json|safetensors)$/));
  const headers = await readRemoteHeaders(repository, null, never);
  expect(headers.container).toBe('safetensors');
  expect(headers.tensors.map((tensor) => tensor.name)).toContain('model.embed_tokens.weight');
  expect(headers.files).toHaveLength(5);
  const everything = repository.files.reduce((sum, file) => sum + file.size, 0);
  expect(hub.seen.bytes).toBeLessThan(everything / 10);
});

test('a GGUF model is known from its header', async () => {
  const { repository } = await repositoryOf(folder('gguf_models/qwen35', /\.gguf$/));
  const headers = await readRemoteHeaders(repository, 'model-mixed.gguf', never);
  expect(headers.container).toBe('gguf');
  expect(JSON.parse(headers.config)).toMatchObject({ 'general.architecture': 'qwen35' });
  expect(headers.tensors).toContainEqual(expect.objectContaining({ name: 'blk.0.attn_qkv.weight' }));
});

test('the tower of a GGUF model that sees is one of its files; that of another model is not', async () => {
  const seer = join(golden, 'qwen3_5_vision', 'two_images');
  const config = JSON.parse(readFileSync(join(seer, 'config.json'), 'utf8')) as SeeingConfig;
  const tensors = readSafetensors(readFileSync(join(seer, 'model.safetensors')));
  const { model, tower } = toSeeingGguf(config, tensors);
  const { tower: other } = toSeeingGguf(config, tensors, { 'clip.vision.projection_dim': { type: 'u32', value: 64 } });
  const seen = async (files: Record<string, Uint8Array>) => {
    const buffers = Object.entries({ 'model.gguf': model, ...files }).map(([name, bytes]) => [
      name,
      Buffer.from(bytes),
    ]);
    const { repository } = await repositoryOf(Object.fromEntries(buffers));
    const {
      config: said,
      tensors: entries,
      container,
      files: wanted,
    } = await readRemoteHeaders(repository, null, never);
    return { vision: addon.describe(said, entries, container).vision, files: wanted.map(({ name }) => name) };
  };
  const files = ['model.gguf', 'mmproj-F16.gguf'];
  expect(await seen({ 'mmproj-F32.gguf': tower, 'mmproj-F16.gguf': tower })).toEqual({
    vision: { token: expect.any(Number), merge: 2 },
    files,
  });
  expect(await seen({ 'mmproj.gguf': other })).toEqual({ vision: null, files: ['model.gguf'] });
});

test('an MLX model is known by its scales', async () => {
  const { repository } = await repositoryOf(folder('mlx_models/qwen3_5_4bit', /^(config\.json|model\.safetensors)$/));
  expect((await readRemoteHeaders(repository, null, never)).container).toBe('mlx');
});

test.each([
  [
    'a header larger than its file',
    { 'config.json': Buffer.from('{}'), 'model.safetensors': Buffer.from('ffffffffffffff7f00', 'hex') },
  ],
  [
    'a header that is not JSON',
    {
      'config.json': Buffer.from('{}'),
      'model.safetensors': Buffer.concat([Buffer.from('0400000000000000', 'hex'), content(50)]),
    },
  ],
  ['a GGUF file that is none', { 'model.gguf': content(5000) }],
])('%s is refused with a sentence', async (_name, files) => {
  const { repository } = await repositoryOf(files);
  await expect(readRemoteHeaders(repository, null, never, { ...network, stallMs: 500 })).rejects.toMatchObject({
    code: 'not-a-model',
  });
});

test('a repository without a model is refused', async () => {
  const { repository } = await repositoryOf({ 'README.md': content(10) });
  await expect(readRemoteHeaders(repository, null, never)).rejects.toMatchObject({ code: 'not-found' });
});

test('a GGUF file that is nothing but header is given up after 32 MB, however large it is', async () => {
  const long = (value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes;
  };
  const [version, text] = [Buffer.from([3, 0, 0, 0]), Buffer.from([8, 0, 0, 0])];
  const parts: Buffer[] = [Buffer.from('GGUF'), version, long(0), long(1000)];
  for (let key = 100; key < 148; key++)
    parts.push(long(3), Buffer.from(`${key}`), text, long(2 ** 20), content(2 ** 20));
  const { hub, repository } = await repositoryOf({ 'model.gguf': Buffer.concat(parts) });
  await expect(readRemoteHeaders(repository, null, never)).rejects.toMatchObject({ code: 'wrong-content' });
  expect(hub.seen.bytes).toBeLessThan(33 * 2 ** 20);
});
