// Qwen3.5 sees: the tower, its rows among the tokens of a prompt, and positions that are no indices.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Picture } from '../../native/addon/index.d.ts';
import { addon, golden } from '../support/addon.ts';
import { readSafetensors, safetensors, temporaryFolder } from '../support/models/formats.ts';
import { type SeeingConfig, toSeeingGguf } from '../support/models/gguf-tower.ts';
import { instructionSets, largestDifference, required } from '../support/models/golden.ts';
import {
  answer,
  checkFastTower,
  checkPrompts,
  checkTower,
  folder,
  pictures,
  prompts,
  reference,
  two,
} from '../support/models/golden-vision.ts';

/** The same weights as mlx writes them: other names, and patches with their channels last. */
function asMlx(): string {
  const tensors = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
  const renamed = Object.entries(tensors).map(([name, tensor]) => {
    const other = name.replace('model.visual.', 'vision_tower.');
    if (!other.endsWith('patch_embed.proj.weight')) return [other, tensor] as const;
    const [out = 0, channels = 0, frames = 0, side = 0] = tensor.shape;
    const pixels = frames * side * side;
    const from = new Float32Array(Uint8Array.from(tensor.bytes).buffer);
    const to = from.map((_, i) => {
      const row = Math.floor(i / (pixels * channels));
      return from[(row * channels + (i % channels)) * pixels + (Math.floor(i / channels) % pixels)] ?? 0;
    });
    return [
      other,
      {
        dtype: 'F32',
        shape: [out, frames, side, side, channels],
        bytes: new Uint8Array(to.buffer),
      },
    ] as const;
  });
  return temporaryFolder({
    'config.json': readFileSync(join(folder, 'config.json')),
    'model.safetensors': safetensors(Object.fromEntries(renamed)),
  });
}

describe.each(instructionSets)('%s', (cpu) => {
  test('tower and merged rows, of each picture and of all in one pass', async () => {
    const model = await addon.load(folder, { cpu });
    await checkTower(model);
    model.close();
  });

  test('on the fast path: near the reference, and each picture as among others, bit for bit', async () => {
    const model = await addon.load(folder, { cpu });
    await checkFastTower(model);
    model.close();
  });

  test('logits at every position, at once and in chunks', async () => {
    const model = await addon.load(folder, { cpu });
    const session = model.createSession({ path: 'exact' });
    await checkPrompts(session, (length) => [length, 1, 7, 16]);
    model.close();
  });

  test('what is written behind pictures', async () => {
    const model = await addon.load(folder, { cpu });
    const session = model.createSession({ path: 'exact' });
    for (const { name, ids, images, greedy } of prompts) {
      const { tokens } = await session.generate(ids, {
        maxTokens: greedy.length,
        pictures: pictures(images),
      });
      expect(tokens, name).toEqual(greedy);
      const all = Int32Array.from([...ids, ...greedy]);
      const { data, columns } = await session.logits(all, {
        all: true,
        generated: greedy.length,
        pictures: pictures(images),
      });
      const written = data.subarray(ids.length * columns);
      const difference = largestDifference(written, required(reference, `decode_logits.${name}`));
      expect(difference, name).toBeLessThanOrEqual(reference.logitsTolerance);
    }
    model.close();
  });
});

test('from the names and the layout of mlx', async () => {
  const model = await addon.load(asMlx());
  await checkTower(model);
  model.close();
});

test('from a GGUF file with its tower beside it, or chosen; one of another model is left out', async () => {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as SeeingConfig;
  const tensors = readSafetensors(readFileSync(join(folder, 'model.safetensors')));
  const { model: text, tower } = toSeeingGguf(config, tensors);
  const beside = temporaryFolder({
    'model.gguf': text,
    'mmproj-F32.gguf': tower,
    'mmproj-BF16.gguf': 'no GGUF at all',
  });
  const model = await addon.load(join(beside, 'model.gguf'));
  expect(model.description.vision).toEqual({ token: 197, merge: 2 });
  expect(model.description.notices.join()).toContain('mmproj-BF16.gguf is not used');
  await checkTower(model);
  const session = model.createSession({ path: 'exact' });
  await checkPrompts(session, (length) => [length, 7]);
  const bytes = model.description.weightBytes;
  model.close();

  const apart = temporaryFolder({ 'model.gguf': text, 'sees.gguf': tower });
  const path = join(apart, 'model.gguf');
  const blind = await addon.inspect(path);
  expect(blind).toMatchObject({ supported: true, vision: null });
  expect(bytes - blind.weightBytes).toBeGreaterThan(0.9 * tower.length);
  const chosen = await addon.load(path, { vision: join(apart, 'sees.gguf') });
  await checkTower(chosen);
  chosen.close();

  const other = toSeeingGguf(config, tensors, {
    'clip.vision.projection_dim': { type: 'u32', value: 64 },
  }).tower;
  const wrong = temporaryFolder({ 'model.gguf': text, 'mmproj.gguf': other });
  const { vision, notices } = await addon.inspect(join(wrong, 'model.gguf'));
  expect(vision).toBeNull();
  expect(notices).toEqual(['the vision tower mmproj.gguf is not used: it gives rows of 64, the model has 48']);
  // The most exact one that can be read is taken, whatever the folder lists first.
  const several = [
    'mmproj-Q8_0.gguf',
    'a-mmproj-f16.gguf',
    'mmproj-F32.gguf',
    'z-MMPROJ-BF16.gguf',
    'b-mmproj-f16.gguf',
  ];
  const broken = temporaryFolder({ 'model.gguf': text, ...Object.fromEntries(several.map((name) => [name, 'none'])) });
  const tried = (await addon.inspect(join(broken, 'model.gguf'))).notices.map((notice) => notice.split(' ')[3]);
  expect(tried).toEqual([
    'z-MMPROJ-BF16.gguf',
    'a-mmproj-f16.gguf',
    'b-mmproj-f16.gguf',
    'mmproj-F32.gguf',
    'mmproj-Q8_0.gguf',
  ]);
  await expect(addon.load(path, { vision: join(wrong, 'mmproj.gguf') })).rejects.toThrow(
    '[gguf] mmproj.gguf: gives rows of 64, the model has 48',
  );
});

test.each(['exact', 'fast'] as const)(
  'a picture from the cache is the picture read, bit for bit, and no other picture is taken for it (%s)',
  async (path) => {
    const shown = pictures(two.images);
    const cold = await addon.load(folder);
    const wanted = await answer(cold, two.ids, shown, cold.createSession({ path }));
    expect(wanted.cachedTokens).toBe(0);
    cold.close();

    const warm = await addon.load(folder);
    warm.setPromptCache(64_000_000);
    await answer(warm, two.ids, shown, warm.createSession({ path }));
    const again = await answer(warm, two.ids, shown, warm.createSession({ path }));
    expect(again.cachedTokens).toBe(two.ids.lastIndexOf(196) + 1);
    expect(again.seen).toEqual(wanted.seen);

    // One value of the first picture is another one: nothing of it, nor what stands behind it, is taken.
    const other = shown.map(({ pixels, grid }) => ({
      pixels: Float32Array.from(pixels),
      grid,
    }));
    if (other[0]) other[0].pixels[5] = 0.25;
    const changed = await answer(warm, two.ids, other, warm.createSession({ path }));
    expect(changed.cachedTokens).toBeLessThanOrEqual(two.ids.indexOf(197));
    expect(changed.seen).not.toEqual(wanted.seen);
    warm.close();
  },
);

test('going back into a picture and behind it, and what a session says it holds', async () => {
  const model = await addon.load(folder);
  const { session, seen } = await answer(model, two.ids, pictures(two.images));
  expect(session.tokens().slice(0, two.ids.length)).toEqual(two.ids);
  await session.rewind(two.ids.length - 5);
  await session.rewind(12);
  expect(Array.from(session.tokens())).toEqual(Array.from(two.ids.subarray(0, 12)));
  const again = await answer(model, two.ids, pictures(two.images), session);
  expect(again.seen).toEqual(seen);
  model.close();
});

test('what does not fit is refused with a sentence', async () => {
  const [one] = prompts;
  if (!one) throw new Error('the golden case has no prompts');
  const model = await addon.load(folder);
  const session = model.createSession({ path: 'exact' });
  const shown = pictures(one.images);
  const asked = (ids: Int32Array, given: Picture[]) => session.logits(ids, { pictures: given });
  await expect(asked(one.ids, [...shown, ...shown])).rejects.toThrow(
    'picture 2 takes 6 tokens 197 in a row, the prompt has 0',
  );
  await expect(asked(two.ids, pictures(['b_160x224']))).rejects.toThrow('more tokens 197 than 1 pictures take');
  const pixels = new Float32Array(1536);
  await expect(asked(one.ids, [{ pixels, grid: [1, 4, 6] }])).rejects.toThrow(
    'a grid of 1 x 4 x 6 has 1536 values, expected 36864',
  );
  await expect(asked(one.ids, [{ pixels, grid: [1, 1, 1] }])).rejects.toThrow(
    'a grid is 1 x 1 x 1, expected multiples of 2',
  );
  expect(() => asked(one.ids, [{ pixels, grid: [1, 0, 4] }])).toThrow('a grid holds 0');
  expect(() => asked(one.ids, {} as never)).toThrow('expected an array of { pixels: Float32Array, grid: numbers }');
  expect(() => asked(one.ids, [{ pixels, grid: [1, 512, 512] }])).toThrow('a grid has 262144 patches');
  const clip = { pixels: new Float32Array(2 * 4 * 6 * 1536), grid: [2, 4, 6] };
  await expect(asked(one.ids, [clip])).rejects.toThrow('video is not supported');
  model.close();

  const blind = await addon.load(join(golden, 'qwen3_5', 'dense_tied'));
  const reading = blind.createSession().logits(Int32Array.from([1, 2]), { pictures: shown });
  await expect(reading).rejects.toThrow('this model cannot see');
  blind.close();
});
