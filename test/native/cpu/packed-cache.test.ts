// The file that keeps packed weights (packed_file.h): what it holds is what packing makes, bit for bit, and whatever happens
// to it, a model loads as it does without.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';
import { ggufFiles, mlxFolders } from '../../golden/cases.ts';
import { addon, golden, repository } from '../../support/addon.ts';
import { temporaryFolder } from '../../support/models/formats.ts';

const models: [title: string, path: string][] = [
  ...ggufFiles
    .filter(([, file]) => file === 'mixed')
    .map(([name, file]): [string, string] => [
      `${name} ${file}`,
      join(golden, `gguf_models/${name}/model-${file}.gguf`),
    ]),
  ...mlxFolders.map((name): [string, string] => [name, join(golden, `mlx_models/${name}`)]),
];
const one = models[0]?.[1] ?? '';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder({});
  file = join(folder, 'model.panels');
});
afterEach(() => chmodSync(folder, 0o700));

const ids = Int32Array.from({ length: 21 }, (_, i) => (7 * i) % 60);

async function logits(model: Model): Promise<Float32Array[]> {
  const both: Float32Array[] = [];
  for (const path of ['exact', 'fast'] as const) {
    const session = model.createSession({ path, contextLength: 64 });
    both.push((await session.logits(ids, { all: true, path })).data);
    session.close();
  }
  return both;
}

const written = (model: Model) => vi.waitFor(() => expect(model.packed).not.toBe('writing'), { timeout: 20_000 });

/** Loads, computes, closes; what became of the file. */
async function run(path: string, packed?: string, cpu?: string) {
  const options = { device: 'cpu', threads: 2, ...(packed && { packed }), ...(cpu && { cpu }) };
  const model = await addon.load(path, options);
  await written(model);
  const result = { kept: model.packed, logits: await logits(model) };
  model.close();
  return result;
}

describe('what is read is what was packed', () => {
  test.each(models)('%s', { timeout: 60_000 }, async (_, path) => {
    const plain = await run(path);
    expect(plain.kept).toBe('none');
    expect(await run(path, file)).toEqual({ kept: 'written', logits: plain.logits });
    expect(readdirSync(folder)).toEqual(['model.panels']);
    const before = statSync(file);
    const read = await run(path, file);
    expect(read).toEqual({ kept: 'read', logits: plain.logits });
    expect(statSync(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs, mode: before.mode });
    expect(before.mode & 0o777).toBe(0o600);
  });

  test('one layout for all instruction sets', async () => {
    await run(one, file);
    const plain = await run(one, undefined, 'scalar');
    expect(await run(one, file, 'scalar')).toEqual({ kept: 'read', logits: plain.logits });
  });

  test('a model whose weights are read where they stand leaves nothing', async () => {
    const path = join(golden, 'llama/gqa_tied');
    const { kept } = await run(path, file);
    expect(kept).toBe('none');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('it may be deleted while a model uses it', async () => {
    const plain = await run(one);
    await run(one, file);
    const model = await addon.load(one, { device: 'cpu', threads: 2, packed: file });
    spawnSync('rm', [file]);
    expect(await logits(model)).toEqual(plain.logits);
    model.close();
  });
});

describe('what it is not of', () => {
  test('a model file with another time, size or content is packed anew', async () => {
    const model = join(folder, 'model.gguf');
    copyFileSync(one, model);
    const [at, later] = [new Date(1_700_000_000_000), new Date(1_700_000_001_000)];
    utimesSync(model, at, at);
    expect((await run(model, file)).kept).toBe('written');
    expect((await run(model, file)).kept).toBe('read');
    utimesSync(model, later, later);
    expect((await run(model, file)).kept).toBe('written');
    expect((await run(model, file)).kept).toBe('read');

    // Other weights, of the same size and the same time.
    const bytes = readFileSync(model);
    for (let i = bytes.length >> 1; i < bytes.length; i += 1) bytes[i] = (bytes[i] ?? 0) ^ 1;
    writeFileSync(model, bytes);
    utimesSync(model, later, later);
    const plain = await run(model);
    expect(await run(model, file)).toEqual({ kept: 'none', logits: plain.logits });
    expect((await run(model, file)).kept).toBe('written');
    expect(await run(model, file)).toEqual({ kept: 'read', logits: plain.logits });
  });

  test('another part of a model of several files is seen', async () => {
    const model = join(folder, 'model-00001-of-00002.gguf');
    const other = join(folder, 'model-00002-of-00002.gguf');
    copyFileSync(one, model);
    writeFileSync(other, 'a');
    expect((await run(model, file)).kept).toBe('written');
    expect((await run(model, file)).kept).toBe('read');
    writeFileSync(other, 'ab');
    expect((await run(model, file)).kept).toBe('written');
  });

  test('another build of the engine packs anew', async () => {
    await run(one, file);
    const bytes = readFileSync(file);
    bytes.writeBigUInt64LE(bytes.readBigUInt64LE(8) ^ 1n, 8);
    writeFileSync(file, bytes);
    expect((await run(one, file)).kept).toBe('written');
    expect((await run(one, file)).kept).toBe('read');
  });
});

describe('what may have happened to it', () => {
  const header = 48;
  const weights = 4096;

  /** Is it found out, and is the next load in order again? */
  async function survives(damage: () => void, kept: 'none' | 'written') {
    const plain = await run(one);
    await run(one, file);
    damage();
    expect(await run(one, file)).toEqual({ kept, logits: plain.logits });
    const { kept: next } = await run(one, file);
    expect(next).toBe(kept === 'none' ? 'written' : 'read');
    expect(await run(one, file)).toEqual({ kept: 'read', logits: plain.logits });
  }
  const change = (at: number) => () => {
    const bytes = readFileSync(file);
    bytes[at < 0 ? bytes.length + at : at] = (bytes[at < 0 ? bytes.length + at : at] ?? 0) ^ 0x10;
    writeFileSync(file, bytes);
  };

  test('one bit of a weight', () => survives(change(weights + 1000), 'none'));
  test.each([0, 9, 17, 25, 33, 41])('byte %i of the header', (at) => survives(change(at), 'written'));
  test('the table', () => survives(change(-5), 'written'));
  test('an empty file', () => survives(() => truncateSync(file, 0), 'written'));
  test('a header only', () => survives(() => truncateSync(file, header), 'written'));
  test('cut in the middle', () => survives(() => truncateSync(file, statSync(file).size >> 1), 'written'));
  test('nothing but noughts', () => survives(() => writeFileSync(file, Buffer.alloc(statSync(file).size)), 'written'));

  test('a count that asks for more than there is', () =>
    survives(() => {
      const bytes = readFileSync(file);
      bytes.writeBigUInt64LE(1n << 61n, 32);
      bytes.writeBigUInt64LE((1n << 64n) - 8n, 24);
      writeFileSync(file, bytes);
    }, 'written'));

  test('what a load that was killed left behind', async () => {
    writeFileSync(`${file}.part`, 'half');
    expect((await run(one, file)).kept).toBe('written');
    expect(readdirSync(folder)).toEqual(['model.panels']);
  });
});

describe('where it cannot be', () => {
  const places: [title: string, place: () => string, prepare: () => unknown][] = [
    ['a folder that is not there', () => join(folder, 'nowhere', 'model.panels'), () => {}],
    ['a name with a null byte', () => `${file}\0`, () => {}],
    ['a folder of its name', () => file, () => mkdirSync(file)],
    ['a link', () => file, () => symlinkSync('elsewhere', file)],
    ['a pipe', () => file, () => spawnSync('mkfifo', [file])],
    ['a part that is a link to somewhere else', () => file, () => symlinkSync('/dev/null', `${file}.part`)],
  ];
  test.each(places)('%s', async (_, place, prepare) => {
    prepare();
    const before = readdirSync(folder);
    const plain = await run(one);
    expect(await run(one, place())).toEqual({ kept: 'none', logits: plain.logits });
    expect(readdirSync(folder)).toEqual(before);
  });

  test('a file that may not grow (a full disk, a quota): the load goes on, nothing is left', () => {
    const script = `
      const addon = require('./build/native/Release/longhand.node');
      addon.load(process.argv[1], { device: 'cpu', threads: 2, packed: process.argv[2] }).then((model) => {
        const timer = setInterval(() => {
          if (model.packed === 'writing') return;
          process.stdout.write(model.packed);
          clearInterval(timer);
          model.close();
        }, 5);
      });`;
    const limited = spawnSync('bash', ['-c', 'ulimit -f 8; exec node -e "$0" "$@"', script, one, file], {
      cwd: repository,
      encoding: 'utf8',
    });
    expect(limited).toMatchObject({ status: 0, stdout: 'none' });
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a load that is given up leaves nothing', async () => {
    const signal = new addon.AbortFlag();
    const onProgress = (done: number, total: number) => void (done > 0 && done < total && signal.set());
    const options = { device: 'cpu', threads: 2, packed: file, signal, onProgress };
    // So small a model may be whole before anybody can stop it.
    const model = await addon.load(one, options).catch(() => null);
    model?.close();
    const parts = () => readdirSync(folder).filter((name) => name.endsWith('.part'));
    await vi.waitFor(() => expect(parts()).toEqual([]), { timeout: 20_000 });
  });

  test('a model that is closed while it is written leaves nothing half done', async () => {
    for (let i = 0; i < 10; i++) {
      const model = await addon.load(one, { device: 'cpu', threads: 2, packed: file });
      model.close();
      const whole = () => expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
      await vi.waitFor(whole, { timeout: 20_000 });
      if (existsSync(file)) expect((await run(one, file)).kept).toBe('read');
      rmSync(file, { force: true });
    }
  });

  test('what is deleted while it is written stays deleted', async () => {
    for (let i = 0; i < 10; i++) {
      const model = await addon.load(one, { device: 'cpu', threads: 2, packed: file });
      rmSync(`${file}.part`, { force: true });
      const gone = !existsSync(file);
      await written(model);
      if (gone) expect(readdirSync(folder)).toEqual(model.packed === 'written' ? ['model.panels'] : []);
      model.close();
      rmSync(file, { force: true });
    }
  });

  test('two loads at once: one of them writes, both are right', async () => {
    const plain = await run(one);
    const both = await Promise.all([run(one, file), run(one, file)]);
    for (const { logits: got } of both) expect(got).toEqual(plain.logits);
    expect(await run(one, file)).toEqual({ kept: 'read', logits: plain.logits });
    expect(readdirSync(folder)).toEqual(['model.panels']);
  });
});
