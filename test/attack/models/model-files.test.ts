import { type ChildProcess, fork } from 'node:child_process';
import { cpSync, linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { ModelId } from '../../../app/protocol/index.ts';
import { golden } from '../../support/addon.ts';
import { listen, newFolder, places, root, startCore } from '../../support/core/core.ts';
import {
  type GgufTensor,
  type GgufValue,
  gguf,
  llama,
  readSafetensors,
  safetensors,
} from '../../support/models/formats.ts';
import { runs } from '../../support/soak.ts';
import { tallyOf } from '../tally.ts';
import type { Tried } from './model-process.ts';
import { changedBytes, changedJson, HOSTILE, oneOf, seeded } from './mutations.ts';

//  Hostile model files. A child process treats each like the engine does: it must not crash, hang or grow, and
//  every refusal must say where, what came and what is allowed.

vi.setConfig({ testTimeout: 900_000 });
const tally = tallyOf('modelFiles');
const MAX_GROWTH_MB = 400;
const PATIENCE_MS = 20_000;
const NO_BYTES = new Uint8Array();
let child: ChildProcess | null = null;
afterAll(() => void child?.kill('SIGKILL'));

async function tried(path: string): Promise<Tried> {
  child ??= fork(join(import.meta.dirname, 'model-process.ts'), [places.addon, places.worker], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: ['--max-old-space-size=600', '--expose-gc'],
  });
  const current = child;
  const answer = new Promise<Tried>((resolve, reject) => {
    current.once('message', (tried) => resolve(tried as Tried));
    current.once('exit', (code, signal) => reject(new Error(`the process died: ${signal ?? code}`)));
    setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS).unref();
  });
  try {
    current.send(path);
    return await answer;
  } catch (error) {
    child = null;
    current.kill('SIGKILL');
    throw error;
  } finally {
    current.removeAllListeners('message').removeAllListeners('exit');
  }
}

async function refused(what: string, path: string): Promise<void> {
  await tally.refused(what, async () => {
    const { refusals, grownMb } = await tried(path);
    for (const { step, code, message } of refusals) {
      expect(message, step).toMatch(/^\[[^\]]+\] .{10,}/s);
      expect(message.length, step).toBeLessThan(2000);
      expect(code, `${step}: ${message}`).toMatch(
        /^(model-broken|model-unsupported|out-of-memory|context-full|too-large)$/,
      );
    }
    if (!(grownMb < MAX_GROWTH_MB)) {
      child?.kill('SIGKILL');
      child = null;
      throw new Error(`${Math.round(grownMb)} MB more than before`);
    }
  });
}

/** A copy of a model folder with some files replaced; the others are links. */
function like(model: string, own: Record<string, string | Buffer>): string {
  const folder = newFolder();
  for (const name of readdirSync(model)) {
    if (!(name in own) && /^[\w.]+\.(json|safetensors|jinja|gguf)$/.test(name) && !name.startsWith('expected'))
      symlinkSync(join(model, name), join(folder, name));
  }
  for (const [name, content] of Object.entries(own)) writeFileSync(join(folder, name), content);
  return folder;
}

const starter = join(root, 'resources', 'starter-model');
const FOLDERS = ['llama/gqa_tied', 'qwen3_5/dense_gqa_mixed', 'qwen3_5_moe/top3', 'lfm2/auto_adjust', 'lfm2_moe/top4'];
const MORE_FOLDERS = ['minicpm_sala/gap', 'mha2mla/uniform_r4_joint_rank8', 'qwen2/biases_tied', 'bert/tiny'];
const folders = [...FOLDERS, ...MORE_FOLDERS].map((name) => join(golden, name));
const ggufs = ['llama/model-mixed', 'qwen35/model-mixed', 'lfm2/model-mixed', 'qwen3/model-f32'].map((name) =>
  join(golden, 'gguf_models', `${name}.gguf`),
);
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown;

test('sound models write: the process that tries them can', async () => {
  for (const path of [...folders, ...ggufs, starter]) {
    const { refusals } = await tried(path);
    expect(
      refusals.filter(({ step }) => step !== 'tokenizer'),
      path,
    ).toEqual([]);
  }
});

test('GGUF: headers changed at random', async () => {
  const folder = newFolder();
  const path = join(folder, 'model.gguf');
  for (const file of ggufs) {
    const sound = readFileSync(file);
    const header = Math.min(sound.length, sound.length >> 2);
    for (let seed = 0; seed < runs(60); seed++) {
      const random = seeded(seed);
      // Most fields are in the first thousand bytes.
      writeFileSync(path, changedBytes(sound, oneOf(random, [64, 1000, header]), random));
      await refused(`GGUF ${file.slice(golden.length)}, seed ${seed}`, path);
    }
  }
  tally.settle();
});

test('safetensors: headers changed at random, as bytes and as JSON', async () => {
  for (const model of folders) {
    const sound = readFileSync(join(model, 'model.safetensors'));
    const length = Number(sound.readBigUInt64LE());
    const header = JSON.parse(sound.subarray(8, 8 + length).toString()) as unknown;
    for (let seed = 0; seed < runs(12); seed++) {
      const random = seeded(seed);
      const folder = like(model, { 'model.safetensors': changedBytes(sound, oneOf(random, [16, 8 + length]), random) });
      await refused(`safetensors ${basename(model)}, seed ${seed}`, folder);
    }
    for (let seed = 0; seed < runs(12); seed++) {
      const text = Buffer.from(JSON.stringify(changedJson(header, seeded(seed))));
      const head = Buffer.alloc(8);
      head.writeBigUInt64LE(BigInt(text.length));
      const folder = like(model, { 'model.safetensors': Buffer.concat([head, text, sound.subarray(8 + length)]) });
      await refused(`safetensors ${basename(model)} as JSON, seed ${seed}`, folder);
    }
  }
  tally.settle();
});

test('heads that are many small things, or a few large ones', async () => {
  const value = { type: 'u32', value: 1 } as const;
  const keys = (count: number): Record<string, GgufValue> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
  const tensors = (count: number): GgufTensor[] =>
    Array.from({ length: count }, (_, i) => ({ name: `t${i}`, type: 'F16', shape: [1], bytes: NO_BYTES }));
  const numbers = (count: number): GgufValue => ({ type: 'i32s', value: Array(count).fill(1) });
  const words = (count: number, length: number): GgufValue => ({
    type: 'strings',
    value: Array(count).fill('a'.repeat(length)),
  });
  const heads: Record<string, () => Uint8Array> = {
    '60,000 keys': () => gguf({ ...llama, ...keys(60_000) }, []),
    '100,000 keys': () => gguf({ ...llama, ...keys(100_000) }, []),
    '200,000 tensors': () => gguf(llama, tensors(200_000)),
    '300,000 tensors': () => gguf(llama, tensors(300_000)),
    'two million numbers': () => gguf({ ...llama, x: numbers(2_000_000) }, []),
    'three million numbers': () => gguf({ ...llama, x: numbers(3_000_000) }, []),
    'three million numbers in a hundred lists': () =>
      gguf({ ...llama, ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, numbers(30_000)])) }, []),
    'two million empty words': () => gguf({ ...llama, x: words(2_000_000, 0) }, []),
    'sixty megabytes of words': () => gguf({ ...llama, x: words(60_000, 1000) }, []),
    'sixty megabytes of one word': () => gguf({ ...llama, x: { type: 'string', value: 'a'.repeat(60e6) } }, []),
    'two hundred megabytes of one word': () => gguf({ ...llama, x: { type: 'string', value: 'a'.repeat(200e6) } }, []),
    'a chat template of sixty megabytes': () =>
      gguf({ ...llama, 'tokenizer.chat_template': { type: 'string', value: '{{ a }}'.repeat(8e6) } }, []),
    'a name of sixty megabytes': () =>
      gguf({ ...llama, 'general.name': { type: 'string', value: 'a'.repeat(60e6) } }, []),
    'an architecture of sixty megabytes': () =>
      gguf({ 'general.architecture': { type: 'string', value: 'a'.repeat(60e6) } }, []),
  };
  for (const [what, make] of Object.entries(heads)) {
    const path = join(newFolder(), 'model.gguf');
    writeFileSync(path, make());
    await refused(`GGUF: ${what}`, path);
  }
  for (const count of [200_000, 600_000]) {
    const folder = newFolder();
    cpSync(join(root, 'resources/starter-model/config.json'), join(folder, 'config.json'));
    const entry = '{"dtype":"U8","shape":[0],"data_offsets":[0,0]}';
    const header = `{${Array.from({ length: count }, (_, i) => `"t${i}":${entry}`).join()}}`;
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, Buffer.from(header)]));
    await refused(`safetensors: ${count} tensors`, folder);
  }
  tally.settle();
});

test('config.json: every key with what it must not be', async () => {
  for (const model of folders) {
    const config = readJson(join(model, 'config.json')) as Record<string, unknown>;
    const keys = Object.keys(config);
    for (let seed = 0; seed < runs(3 * keys.length); seed++) {
      const random = seeded(seed);
      const key = keys[seed % keys.length] ?? '';
      const value = config[key];
      const inner = typeof value === 'object' && value !== null && random(2) === 0;
      const changed = { ...config, [key]: inner ? changedJson(value, random) : oneOf(random, HOSTILE) };
      await refused(
        `config of ${basename(model)}, seed ${seed} (${key})`,
        like(model, { 'config.json': JSON.stringify(changed) }),
      );
    }
  }
  tally.settle();
});

test('tokenizers and what stands beside them, changed at random', async () => {
  const tokenizers = ['bpe_llama3', 'bpe_qwen35', 'sp_bpe', 'wordpiece'].map((name) =>
    join(golden, 'tokenizers', name),
  );
  for (const tokenizer of tokenizers) {
    const sound = readJson(join(tokenizer, 'tokenizer.json'));
    for (let seed = 0; seed < runs(25); seed++) {
      const changed = changedJson(sound, seeded(seed));
      const folder = like(starter, { 'tokenizer.json': JSON.stringify(changed) });
      await refused(`tokenizer ${basename(tokenizer)}, seed ${seed}`, folder);
    }
  }
  for (const name of ['tokenizer_config.json', 'generation_config.json']) {
    const sound = readJson(join(starter, name));
    for (let seed = 0; seed < runs(25); seed++) {
      const folder = like(starter, { [name]: JSON.stringify(changedJson(sound, seeded(seed))) });
      await refused(`${name}, seed ${seed}`, folder);
    }
  }
  type Vocabulary = { model: { vocab: Record<string, number>; merges: unknown[] }; added_tokens: object[] };
  const sound = readJson(join(starter, 'tokenizer.json')) as Vocabulary;
  const withModel = (model: object) => ({ ...sound, model: { ...sound.model, ...model } });
  const ids = (id: (index: number) => unknown) =>
    withModel({ vocab: Object.fromEntries(Object.keys(sound.model.vocab).map((word, index) => [word, id(index)])) });
  for (const [what, changed] of Object.entries<unknown>({
    'every word has the id 0': ids(() => 0),
    'ids that are negative': ids((index) => -index),
    'ids beyond the vocabulary': ids((index) => 2 ** 20 + index),
    'ids that are halves': ids((index) => index + 0.5),
    'ids that are words': ids(String),
    'no words': withModel({ vocab: {} }),
    'no merges': withModel({ merges: [] }),
    'merges of nothing': withModel({
      merges: [
        ['', ''],
        [' ', ' '],
      ],
    }),
    'merges of words that are not there': withModel({ merges: [['zzzzq', 'qzzzz']] }),
    'every merge twice': withModel({ merges: [...sound.model.merges, ...sound.model.merges] }),
    'added tokens that are one': { ...sound, added_tokens: Array(50).fill(sound.added_tokens[0]) },
    'an added token of nothing': { ...sound, added_tokens: [{ ...sound.added_tokens[0], content: '' }] },
    'an added token of half a letter': { ...sound, added_tokens: [{ ...sound.added_tokens[0], content: '\ud800' }] },
    'a prototype': JSON.parse('{"__proto__":{"vocab":{}},"model":{"type":"BPE","vocab":{},"merges":[]}}'),
  })) {
    await refused(`tokenizer: ${what}`, like(starter, { 'tokenizer.json': JSON.stringify(changed) }));
  }
  for (const [what, text] of Object.entries({
    nothing: '',
    'a list': '[]',
    'a number': '1',
    'a text': '"x"',
    'half of it': '{"model": {',
    'a mark of another encoding': '\ufeff{}',
    'ten thousand levels': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    'five million values': `[${'0,'.repeat(5_000_000)}0]`,
  })) {
    for (const name of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'config.json'])
      await refused(`${name}: ${what}`, like(starter, { [name]: text }));
  }
  tally.settle();
});

test('indexes and sets of files that lead elsewhere or to themselves', async () => {
  const model = join(golden, 'llama/gqa_tied');
  const names = Object.keys(readSafetensors(readFileSync(join(model, 'model.safetensors'))));
  const index = (file: string) => JSON.stringify({ weight_map: Object.fromEntries(names.map((name) => [name, file])) });
  for (const file of [
    'model.safetensors.index.json',
    'config.json',
    '../../../../../../etc/passwd',
    '/etc/passwd',
    '/dev/zero',
    '.',
    '..',
    '',
    'model.safetensors/',
    'a\0b',
    'x'.repeat(5000),
  ]) {
    const folder = like(model, { 'model.safetensors.index.json': index(file) });
    await refused(`an index that names ${JSON.stringify(file).slice(0, 60)}`, folder);
  }
  const sound = readFileSync(ggufs[0] ?? '');
  for (const [name, count] of [
    ['m-00001-of-00002.gguf', 1],
    ['m-00001-of-99999.gguf', 1],
    ['m-00002-of-00002.gguf', 2],
    ['m-00000-of-00000.gguf', 1],
  ] as const) {
    const folder = newFolder();
    const path = join(folder, name);
    writeFileSync(path, sound);
    for (let more = 1; more < count; more++) linkSync(path, join(folder, name.replace('00002-of', `0000${more}-of`)));
    await refused(`a set of GGUF files named ${name}`, path);
  }
  tally.settle();
});

/** NaN and infinity patterns at every position of the weights of a type. */
function spoiled(
  model: string,
  fits: (name: string, dtype: string) => boolean,
  value: Record<string, number[]>,
): Buffer {
  const tensors = readSafetensors(readFileSync(join(model, 'model.safetensors')));
  for (const [name, tensor] of Object.entries(tensors)) {
    const pattern = value[tensor.dtype];
    if (pattern && fits(name, tensor.dtype))
      tensor.bytes.set(tensor.bytes.map((_, at) => pattern[at % pattern.length] ?? 0));
  }
  return Buffer.from(safetensors(tensors));
}

const NAN = { BF16: [0xc0, 0x7f], F16: [0x00, 0x7e], F32: [0, 0, 0xc0, 0x7f] };
const INFINITE = { BF16: [0x80, 0x7f], F16: [0x00, 0x7c], F32: [0, 0, 0x80, 0x7f] };

test('weights and scales that are no numbers, or infinite', async () => {
  const mlx = join(golden, 'mlx_models/qwen3_5_4bit');
  for (const [what, value] of Object.entries({ NaN: NAN, infinity: INFINITE })) {
    for (const model of [...folders, mlx]) {
      for (const [part, fits] of Object.entries<RegExp>({
        'all weights': /./,
        norms: /norm/,
        embeddings: /embed/,
        scales: /scales|biases/,
      })) {
        const file = spoiled(model, (name) => fits.test(name), value);
        await refused(`${what} in the ${part} of ${basename(model)}`, like(model, { 'model.safetensors': file }));
      }
    }
  }
  tally.settle();
});

test('a turn with a model whose weights are no numbers fails with a sentence, and the next model answers', async () => {
  const { client } = await startCore();
  const { end } = listen(client);
  const hostile = newFolder();
  cpSync(starter, hostile, { recursive: true });
  writeFileSync(
    join(hostile, 'model.safetensors'),
    spoiled(starter, (name) => /norm/.test(name), NAN),
  );
  const { id: chatId } = await client.call('chats.create', {});
  const ask = async (modelId: ModelId) => {
    await client.call('chats.update', { chatId, modelId, sampling: { maxTokens: 4, temperature: 0 } });
    return end((await client.call('turns.send', { chatId, text: 'Hello!' })).turnId);
  };
  await tally.refused('a model of NaN, asked', async () => {
    const { id } = await client.call('models.import', { path: hostile });
    expect(await ask(id)).toMatchObject({
      type: 'failed',
      failure: { code: 'model-broken', message: expect.stringMatching(/^\[sample\] .*not finite/) },
    });
  });
  await tally.refused('another model after it', async () =>
    expect(await ask('starter' as ModelId)).toMatchObject({ type: 'finished', reason: 'length' }),
  );
  tally.settle();
});
