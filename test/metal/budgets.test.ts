// What one decoded token and a prompt of 512 cost, counted where it happens: dispatches, command buffers, waits and bytes, on
// the shapes of Qwen3.5-0.8B. These are the numbers that decide the speed of small models (metal/README.md).
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { safetensors, temporaryFolder } from '../support/models/formats.ts';
import { picture, folder as seeing } from '../support/models/golden-vision.ts';
import { full, half, type Shapes, thin } from '../support/models/shapes.ts';
import { type Counters, loadOnMetal, needsStandin, standin } from './standin.ts';

needsStandin();

let weights: Uint8Array;
beforeAll(() => {
  weights = safetensors(full.tensors());
});
afterEach(() => standin.options({}));

const folderOf = ({ config, tensors }: Shapes): string =>
  temporaryFolder({
    'config.json': config,
    'model.safetensors': config === full.config ? weights : safetensors(tensors()),
  });
const memoryOf = ({ bytes }: Counters): number => (bytes.memory?.read ?? 0) + (bytes.memory?.written ?? 0);

const prompt = Int32Array.from({ length: 6 }, (_, i) => i + 3);

/** What each token after the first costs. */
async function decoded(tokens: number, { check = false, of = full } = {}): Promise<Counters> {
  const model = await loadOnMetal(folderOf(of));
  const session = model.createSession({ path: 'exact', kvType: 'f32' });
  await session.logits(prompt, { chunk: 6 });
  standin.options({ check });
  standin.reset();
  for (let i = 0; i < tokens; i++)
    await session.generate(Int32Array.of(...session.tokens(), 7 + i), { maxTokens: 1, path: 'exact' });
  const counters = standin.counters();
  model.close();
  return counters;
}

describe('one decoded token', () => {
  test('5 dispatches a gated-delta layer, 6 an attention layer, one to embed and one for the scores', async () => {
    const { dispatches, kernels, commandBuffers, mostInFlight, waits } = await decoded(2);
    expect(kernels).toMatchObject({ gated_delta_step_32: 2, qk_norm_rope_store: 2, attention: 2 });
    expect(dispatches / 2).toBeLessThanOrEqual(5 + 6 + 2);
    expect(commandBuffers / 2).toBe(1);
    expect(mostInFlight).toBeLessThanOrEqual(2);
    expect(waits / 2).toBe(1);
  });

  test('moves the weights once, the states twice, the keys and values once, and 5 % more', {
    timeout: 240_000,
  }, async () => {
    const counters = await decoded(1, { check: true, of: half });
    const { weights } = counters.bytes;
    const least = half.minimalBytes(prompt.length, 1);
    expect(weights?.read).toBeGreaterThanOrEqual(least.weights);
    expect((weights?.read ?? 0) + memoryOf(counters)).toBeLessThanOrEqual(
      1.05 * (least.weights + least.state + least.kv),
    );
    expect(weights?.written).toBe(0);
  });
});

test('a picture takes 6 dispatches a block of its tower, one before them and three behind', async () => {
  const model = await loadOnMetal(seeing);
  const { pixels, grid } = picture('b_160x224');
  const looked = async () => {
    standin.reset();
    await model.see(pixels, Int32Array.from(grid));
    return standin.counters().dispatches;
  };
  standin.options({ dry: true });
  await looked(); // the weights come
  expect(await looked()).toBe(1 + 2 * 6 + 3);
  model.close();
});

/** What reading `tokens` tokens at once costs. Without `check` nothing is computed. */
async function prefilled(tokens: number, { check = false, of = full } = {}): Promise<Counters> {
  const model = await loadOnMetal(folderOf(of));
  const session = model.createSession({ path: 'exact', kvType: 'f32' });
  standin.options(check ? { check } : { dry: true });
  standin.reset();
  await session.logits(
    Int32Array.from({ length: tokens }, (_, i) => i % of.vocabulary),
    { chunk: tokens },
  );
  const counters = standin.counters();
  session.close();
  model.close();
  return counters;
}

describe('a prefill of 512 tokens', () => {
  test('7 dispatches a gated-delta layer, 6 an attention layer, one to embed and one for the scores', async () => {
    const { dispatches, kernels } = await prefilled(512);
    expect(kernels).toEqual({
      embed: 1,
      linear_mat: 4 + 4, // projection, out, gate and up, down
      short_conv: 1,
      gated_delta_scan_32: 1,
      gated_norm: 1,
      qk_norm_rope_store: 1,
      attention_tile: 1,
      linear_vec: 1,
    });
    expect(dispatches).toBe(7 + 6 + 2);
  });

  test('command buffers of about 50 GFLOP, two under way, so that the desktop draws its frames between them', async () => {
    const { commandBuffers, mostInFlight, waits } = await prefilled(2048);
    const flops = 2 * 2048 * full.multiplications;
    expect(commandBuffers).toBeGreaterThan(1);
    expect(commandBuffers).toBeLessThanOrEqual(1 + Math.ceil(flops / 5e10));
    expect(mostInFlight).toBeLessThanOrEqual(2);
    expect(waits).toBe(commandBuffers);
  });

  test('moves the weights once, the states twice, keys and values once each way, and 5 % more', {
    timeout: 240_000,
  }, async () => {
    const counters = await prefilled(512, { check: true, of: thin });
    const { weights } = counters.bytes;
    const { embedding, kv, state, ...least } = thin.minimalBytes(0, 512);
    expect(counters.kernels).toMatchObject({ linear_mat: 8, gated_delta_scan_8: 1, attention_tile: 1 });
    expect(weights?.read).toBeGreaterThanOrEqual(least.weights);
    expect(memoryOf(counters)).toBeGreaterThanOrEqual(kv + state);
    expect((weights?.read ?? 0) + memoryOf(counters)).toBeLessThanOrEqual(
      1.05 * (least.weights + embedding + state + kv),
    );
    expect(weights?.written).toBe(0);
  });

  test('needs the activations of one layer and no more', async () => {
    const { heapBytes } = await prefilled(512);
    // The widest moment: x, the packed projection of the gated-delta layer, its convolution, its output, the MLP's middle.
    expect(heapBytes).toBeLessThan(2 * 4 * 512 * (1024 + 8224 + 6144 + 2048 + 3584));
  });
});
