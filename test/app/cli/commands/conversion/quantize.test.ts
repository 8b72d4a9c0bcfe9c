import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { average } from '../../../../../app/protocol/index.ts';
import { addon, golden, repository } from '../../../../support/addon.ts';
import { logitsOf } from '../../../../support/conversion/logits.ts';
import { readingLlama } from '../../../../support/conversion/reading-llama.ts';
import { answered, longhand } from '../../../../support/core/cli.ts';
import { f32, formats, readSafetensors, safetensors, temporaryFolder } from '../../../../support/models/formats.ts';
import { families, someTokens, starter } from '../../../../support/models/models.ts';

type Card = {
  out: string;
  bytes: number;
  source_bytes: number;
  relative_error: number;
  quality: { kld: number; same_top: number; verdict: string } | { skipped: string };
  error?: { code: string; message: string; hint?: string };
};
const read = (folder: string) => readSafetensors(readFileSync(join(folder, 'model.safetensors')));
const llama = join(golden, 'llama/gqa_tied');

const logits = (path: string) => logitsOf(path, 24);
const distance = (a: Float32Array, b: Float32Array) =>
  Math.sqrt(a.reduce((sum, value, i) => sum + (value - (b[i] ?? Number.NaN)) ** 2, 0) / a.length);

/** Other lists for another `from`. */
const lists = (count: number, from: number): number[][] =>
  Array.from({ length: count }, (_, at) => [...someTokens(96, from + at)]);

/** Log-probabilities of every token at every place of some lists, [96 × vocabulary] each. */
async function predictions(path: string): Promise<Float32Array[]> {
  const model = await addon.load(path, { device: 'cpu' });
  const session = model.createSession({ path: 'exact' });
  const found: Float32Array[] = [];
  for (const ids of lists(8, 1)) {
    const at = Array.from({ length: 95 * model.vocabularySize }, (_, one) => one % model.vocabularySize);
    found.push((await session.score(Int32Array.from(ids), { from: 1, at })).atLogprobs);
  }
  model.close();
  return found;
}

/** KL divergence, in nats a token. */
const divergence = (was: Float32Array, is: Float32Array): number =>
  was.reduce((sum, log, at) => sum + Math.exp(log) * (log - (is[at] ?? Number.NaN)), 0) / 95;

describe('MLX', () => {
  test.each(families)('%s loads at once, and the more bits the nearer', { timeout: 60_000 }, async (_name, path) => {
    const folder = temporaryFolder();
    const original = await logits(path);
    const off: number[] = [];
    for (const bits of ['3', '8']) {
      const card = await answered<Card>(folder, [
        'quantize',
        '--model',
        path,
        '--out',
        bits,
        '--bits',
        bits,
        '--group',
        '32',
      ]);
      expect(card.error, JSON.stringify(card.error)).toBeUndefined();
      expect(card.bytes).toBeLessThan(card.source_bytes);
      off.push(distance(original, await logits(join(folder, bits))));
    }
    const [three = 0, eight = Number.NaN] = off;
    expect(eight).toBeLessThan(three / 4);
  });

  test('what stands in the file is the definition, and what was kept is the source', async () => {
    const folder = temporaryFolder();
    await longhand(folder, ['quantize', '--model', llama, '--out', 'b', '--bits', '4', '--group', '32']);
    const made = read(join(folder, 'b'));
    const source = read(llama);
    const name = 'model.layers.0.mlp.down_proj';
    const opened = await addon.openWeights(llama);
    const wanted = await opened.affine(`${name}.weight`, { bits: 4, group: 32, scales: 'F32', method: 'rtn' });
    expect(Buffer.from(made[`${name}.weight`]?.bytes ?? [])).toEqual(Buffer.from(wanted.codes));
    expect(Buffer.from(made[`${name}.scales`]?.bytes ?? [])).toEqual(Buffer.from(wanted.scales));
    const norm = 'model.layers.0.input_layernorm.weight';
    expect(made[norm]).toEqual(source[norm]);
    const config = JSON.parse(readFileSync(join(folder, 'b', 'config.json'), 'utf8'));
    expect(config).toMatchObject({ quantization: { group_size: 32, bits: 4, mode: 'affine' } });
    expect(config.quantization_config).toEqual(config.quantization);
    const seen = formats.dequantise(join(folder, 'b'), `${name}.weight`);
    expect(Math.abs((seen[0] ?? 0) - (formats.dequantise(llama, `${name}.weight`)[0] ?? 1))).toBeLessThan(0.1);
  });

  test('the loss is measured on a text and written beside the weights', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder();
    const card = await answered<Card>(folder, ['quantize', '--model', starter, '--out', 'b', '--bits', '8']);
    expect(card.code).toBe(0);
    expect(card.quality).toMatchObject({ verdict: 'hardly different' });
    expect(JSON.parse(readFileSync(join(folder, 'b', 'quality.json'), 'utf8'))).toMatchObject({
      quality: card.quality,
    });
    expect(existsSync(join(folder, 'b', 'tokenizer.json'))).toBe(true);
  });
});

describe('weighed by what the model does with a text', () => {
  const made = (folder: string, out: string, ...more: string[]) =>
    answered<Card & { bits_per_weight: number; calibration: string }>(folder, [
      'quantize',
      '--model',
      llama,
      '--out',
      out,
      '--bits',
      '3',
      '--group',
      '32',
      ...more,
    ]);
  const ids = () => JSON.stringify([[...someTokens(200)], [...someTokens(100, 7)]]);

  test('a search loses less of what comes out than rounding, on tokens it has not seen', {
    timeout: 30_000,
  }, async () => {
    const folder = temporaryFolder({ 'ids.json': ids() });
    const original = await logits(llama);
    await made(folder, 'plain', '--bits', '4');
    const card = await made(folder, 'searched', '--bits', '4', '--method', 'weighted', '--calibration', 'ids.json');
    expect(card.calibration).toBe('300 tokens of ids.json');
    const [plain, searched] = [await logits(join(folder, 'plain')), await logits(join(folder, 'searched'))];
    expect(distance(original, searched)).toBeLessThan(0.9 * distance(original, plain));
  });

  test('what it is weighed by decides: another text, another model', async () => {
    const other = JSON.stringify([[...someTokens(200, 50)], [...someTokens(100, 57)]]);
    const folder = temporaryFolder({ 'ids.json': ids(), 'other.json': other });
    for (const text of ['ids', 'other'])
      await made(folder, text, '--method', 'weighted', '--calibration', `${text}.json`);
    const codes = (name: string) => read(join(folder, name))['model.layers.0.mlp.down_proj.weight']?.bytes;
    expect(codes('ids')).toBeDefined();
    expect(codes('ids')).not.toEqual(codes('other'));
  });

  test.each(families)(
    '%s: with error feedback less is lost than by rounding, at 3 bits and at 4, and than by the search alone',
    { timeout: 120_000 },
    async (name, path) => {
      const folder = temporaryFolder({ 'ids.json': JSON.stringify(lists(24, 1000)) });
      const original = await predictions(path);
      for (const bits of ['3', '4']) {
        const lost: number[][] = [];
        for (const method of ['rtn', 'weighted', 'gptq']) {
          const calibrated = method === 'rtn' ? [] : ['--calibration', 'ids.json'];
          const card = await made(
            folder,
            method + bits,
            '--model',
            path,
            '--bits',
            bits,
            '--method',
            method,
            ...calibrated,
          );
          expect(card.error, JSON.stringify(card.error)).toBeUndefined();
          expect(card.calibration).toBe(method === 'rtn' ? null : '2304 tokens of ids.json');
          const own = await predictions(join(folder, method + bits));
          lost.push(original.map((list, at) => divergence(list, own[at] as Float32Array)));
        }
        const [plain = [], weighted = [], fed = []] = lost;
        const about = `${name}, ${bits} bits: ${lost.map((one) => average(one).toFixed(4)).join(' ')}`;
        expect(average(fed), about).toBeLessThan(0.9 * average(plain));
        expect(average(fed), about).toBeLessThan(average(weighted));
      }
    },
  );

  test('mixed bits fill the size that was given, and no more', { timeout: 30_000 }, async () => {
    const folder = temporaryFolder({ 'ids.json': ids() });
    const calibrated = ['--method', 'mixed', '--calibration', 'ids.json'];
    const card = await made(folder, 'b', ...calibrated, '--target-size', '0.0002');
    expect(card.bits_per_weight).toBeGreaterThan(3);
    const tensors = Object.values(read(join(folder, 'b'))).reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(tensors).toBeGreaterThan(190_000);
    expect(tensors).toBeLessThanOrEqual(200_000);
    const { quantization } = JSON.parse(readFileSync(join(folder, 'b', 'config.json'), 'utf8'));
    const own = Object.values(quantization).filter((value) => typeof value === 'object');
    expect(own.length).toBeGreaterThan(0);
    expect(distance(await logits(llama), await logits(join(folder, 'b')))).toBeGreaterThan(0);
    const small = await made(folder, 'c', ...calibrated, '--target-size', '0.0001');
    expect(small.error?.message).toMatch(/got 0\.000 GB; the least that this model can become is 0\.\d+ GB/);
  });

  test('a smaller divergence takes more bytes, and is nearer to the original', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder({ 'ids.json': ids() });
    const original = await logits(llama);
    const found: { bytes: number; off: number }[] = [];
    for (const nats of ['0.1', '0.0000001']) {
      const card = await made(folder, nats, '--method', 'mixed', '--calibration', 'ids.json', '--target-kld', nats);
      expect(card.error, JSON.stringify(card.error)).toBeUndefined();
      found.push({ bytes: card.bytes, off: distance(original, await logits(join(folder, nats))) });
    }
    const [rough, fine] = found;
    expect(fine?.bytes).toBeGreaterThan(rough?.bytes ?? Number.NaN);
    expect(fine?.off).toBeLessThan((rough?.off ?? Number.NaN) / 4);
    expect(readdirSync(join(folder, '0.1')).sort()).toEqual(['config.json', 'model.safetensors', 'quality.json']);
  });

  test('the divergence that was asked for is kept to in what is measured, not in the forecast alone', {
    timeout: 120_000,
  }, async () => {
    // A text of three words promises more than holds for another one.
    const folder = temporaryFolder({ 'words.txt': 'the sea and '.repeat(400) });
    mkdirSync(join(folder, 'model'));
    await readingLlama(join(folder, 'model'), { layers: 4 });
    const wanted = ['--method', 'mixed', '--target-kld', '0.005', '--calibration', 'words.txt'];
    const card = await made(folder, 'b', '--model', 'model', ...wanted);
    expect(card.error, JSON.stringify(card.error)).toBeUndefined();
    const { kld } = card.quality as { kld: number };
    expect(kld).toBeLessThanOrEqual(0.005);
    // Not by keeping everything.
    expect(card.bits_per_weight).toBeLessThan(8);
  });

  test.each([
    ['', /is empty/],
    [Buffer.from([0xff, 0xfe, 0, 1]), /is not text: its bytes are not UTF-8/],
    ['[[1, 2, 999999]]', /token 999999 does not exist; expected 0 to \d+/],
    ['[[1]]', /fewer than two tokens/],
    ['a text', /has no tokenizer and cannot read text/],
  ])('%s is refused', async (content, message) => {
    const folder = temporaryFolder({ 'ids.json': content });
    const { code, error } = await made(folder, 'b', '--method', 'weighted', '--calibration', 'ids.json');
    expect(code).toBe(2);
    expect(error?.message).toMatch(message);
    expect(readdirSync(folder)).toEqual(['ids.json']);
  });
});

describe('what is refused leaves nothing behind', () => {
  const refused = async (args: string[], here = temporaryFolder()) => {
    const before = readdirSync(here);
    const card = await answered<Card>(here, ['quantize', ...args]);
    expect(readdirSync(here)).toEqual(before);
    return {
      code: card.code,
      message: card.error?.message ?? '',
      hint: card.error?.hint ?? '',
      kind: card.error?.code,
    };
  };

  test.each([
    [['--model', llama], /give --model PATH and --out PATH/],
    [['--model', llama, '--out', 'b', '--bits', '7'], /got 7, expected one of 2, 3, 4, 5, 6, 8/],
    [['--model', llama, '--out', 'b', '--group', '48'], /got 48, expected one of 32, 64, 128/],
    [['--model', llama, '--out', 'b', '--method', 'best'], /rtn or hqq or weighted or gptq or mixed/],
    [['--model', llama, '--out', 'no/b'], /the folder .*no does not exist/],
    [['--model', llama, '--out', 'b', '--target-size', '1'], /--target-size goes with --method mixed/],
    [['--model', llama, '--out', 'b', '--target-kld', '1'], /--target-kld goes with --method mixed/],
    [
      ['--model', llama, '--out', 'b', '--method', 'mixed', '--target-kld', '1', '--target-size', '1'],
      /without --target-size/,
    ],
    [
      ['--model', llama, '--out', 'b', '--method', 'mixed', '--target-kld', '0'],
      /got 0, expected nats per token above 0/,
    ],
  ])('%j', async (args, message) => {
    const { code, message: said } = await refused(args);
    expect(code).toBe(2);
    expect(said).toMatch(message);
  });

  test('a name that is taken, and a model that is quantised, unless --yes', { timeout: 30_000 }, async () => {
    const here = temporaryFolder();
    const args = ['quantize', '--model', starter, '--out', 'b', '--skip-quality'];
    expect((await longhand(here, args)).code).toBe(0);
    expect((await refused(['--model', starter, '--out', 'b'], here)).message).toMatch(
      /b already exists; choose another name/,
    );
    const again = await refused(['--model', 'b', '--out', 'c'], here);
    expect(again.message).toMatch(/already quantised: .* is AFFINE/);
    expect(again.hint).toMatch(/Quantising twice adds to the loss/);
    expect(
      (await longhand(here, ['quantize', '--model', 'b', '--out', 'c', '--bits', '3', '--yes', '--skip-quality'])).code,
    ).toBe(0);
  });

  test('a weight that is no number is named', async () => {
    const here = temporaryFolder();
    mkdirSync(join(here, 'a'));
    cpSync(join(llama, 'config.json'), join(here, 'a', 'config.json'));
    const tensors = read(llama);
    const spoilt = tensors['model.layers.1.self_attn.v_proj.weight'];
    spoilt?.bytes.set(f32(Number.NaN), 4);
    writeFileSync(join(here, 'a', 'model.safetensors'), safetensors(tensors));
    const { code, message, kind } = await refused(['--model', 'a', '--out', 'b', '--group', '32'], here);
    expect([code, kind]).toEqual([1, 'model-broken']);
    expect(message).toMatch(/"model\.layers\.1\.self_attn\.v_proj\.weight": row 0, column 1 is not a number/);
  });

  test('Ctrl-C', async () => {
    const here = temporaryFolder();
    const pressed = AbortSignal.abort();
    expect((await longhand(here, ['quantize', '--model', starter, '--out', 'b'], pressed)).code).toBe(130);
    expect(readdirSync(here)).toEqual([]);
  });

  test('a process that is killed leaves a part, which the next one takes away', { timeout: 60_000 }, async () => {
    const here = temporaryFolder();
    const args = [join(repository, 'app/cli/main.ts'), 'quantize', '--model', starter, '--out', join(here, 'b')];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, LONGHAND_ROOT: repository },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    while (readdirSync(here).length === 0 && child.exitCode === null) await new Promise((done) => setTimeout(done, 2));
    child.kill('SIGKILL');
    await ended;
    expect(readdirSync(here)).toEqual([`b.${child.pid}.part`]);
    expect((await longhand(here, ['quantize', '--model', starter, '--out', 'b', '--skip-quality'])).code).toBe(0);
    expect(readdirSync(here)).toEqual(['b']);
  });

  test('one that is killed in the middle is continued by the same command, and its result is the same', {
    timeout: 180_000,
  }, async () => {
    const here = temporaryFolder();
    const asked = ['quantize', '--model', starter, '--bits', '3', '--method', 'weighted', '--skip-quality'];
    const child = spawn(process.execPath, [join(repository, 'app/cli/main.ts'), ...asked, '--out', join(here, 'b')], {
      env: { ...process.env, LONGHAND_ROOT: repository },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    const part = join(here, `b.${child.pid}.part`);
    while (!existsSync(join(part, 'progress.json')) && child.exitCode === null)
      await new Promise((done) => setTimeout(done, 5));
    child.kill('SIGKILL');
    await ended;
    const { ino } = statSync(join(part, 'model.safetensors'));
    expect((await longhand(here, [...asked, '--out', 'b'])).code).toBe(0);
    expect((await longhand(here, [...asked, '--out', 'c'])).code).toBe(0);
    const [resumed, straight] = ['b', 'c'].map((name) => join(here, name, 'model.safetensors')) as [string, string];
    expect(statSync(resumed).ino).toBe(ino);
    expect(readFileSync(resumed).equals(readFileSync(straight))).toBe(true);
    expect(readdirSync(here).sort()).toEqual(['b', 'c']);
  });

  const alone = ['--user', '--map-root-user', '--mount'];
  const mounts = process.platform === 'linux' && spawnSync('unshare', [...alone, 'true']).status === 0;
  test('a disk that is full', { timeout: 60_000 }, (context) => {
    if (!mounts) context.skip('needs a mount of its own: unshare and mount are not permitted here');
    const disk = temporaryFolder();
    // The weights fit, the tokenizer does not.
    const run = (size: string) =>
      spawnSync(
        'unshare',
        [
          ...alone,
          'sh',
          '-c',
          `mount -t tmpfs -o size=${size} tmpfs "$0" && "$@"; ls "$0"`,
          disk,
          process.execPath,
          join(repository, 'app/cli/main.ts'),
          'quantize',
          '--model',
          starter,
          '--out',
          join(disk, 'b'),
          '--skip-quality',
          '--json',
        ],
        { encoding: 'utf8', env: { ...process.env, LONGHAND_ROOT: repository } },
      ).stdout;
    expect(run('1m')).toMatch(/"disk-full".*has 1(\.\d)? MB free, but .* are needed[^\n]*\n$/);
    expect(run('5m')).toMatch(/"disk-full".*the disk is full; nothing of it was kept[^\n]*\n$/);
  });
});

test('a format that there is not is refused with those that there are', async () => {
  const wanted = ['quantize', '--model', llama, '--out', 'b', '--format', 'gguf:Q9'];
  const { code, err } = await longhand(temporaryFolder(), wanted);
  expect(err).toContain('[--format] got "gguf:Q9", expected one of mlx, gguf:Q4_0');
  expect(code).toBe(2);
});
