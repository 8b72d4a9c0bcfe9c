// What a pass needs beside weights and caches: the activations of one layer, whatever the depth of the model.
import { afterEach, describe, expect, test } from 'vitest';
import { type StoredTensor, safetensors, temporaryFolder } from '../../support/models/formats.ts';
import { loadOnMetal, needsStandin, standin } from '../standin.ts';

needsStandin();

const [hidden, inner, heads, vocabulary, tokens] = [128, 512, 4, 64, 256];

function small(shape: number[]): StoredTensor {
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({ length: count }, (_, i) => 0.1 * Math.sin(i * 12.9898 + i * i));
  return { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) };
}

const layer = (at: string): Record<string, StoredTensor> => ({
  [`${at}.input_layernorm.weight`]: small([hidden]),
  [`${at}.post_attention_layernorm.weight`]: small([hidden]),
  ...Object.fromEntries(['q', 'k', 'v', 'o'].map((x) => [`${at}.self_attn.${x}_proj.weight`, small([hidden, hidden])])),
  [`${at}.mlp.gate_proj.weight`]: small([inner, hidden]),
  [`${at}.mlp.up_proj.weight`]: small([inner, hidden]),
  [`${at}.mlp.down_proj.weight`]: small([hidden, inner]),
});

const layerBytes = Object.values(layer('')).reduce((sum, { bytes }) => sum + bytes.length, 0);

const llama = (layers: number) =>
  temporaryFolder({
    'config.json': JSON.stringify({
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      hidden_act: 'silu',
      hidden_size: hidden,
      intermediate_size: inner,
      max_position_embeddings: 1024,
      num_attention_heads: heads,
      num_key_value_heads: heads,
      num_hidden_layers: layers,
      rms_norm_eps: 1e-6,
      rope_theta: 10000,
      tie_word_embeddings: true,
      vocab_size: vocabulary,
    }),
    'model.safetensors': safetensors({
      'model.embed_tokens.weight': small([vocabulary, hidden]),
      'model.norm.weight': small([hidden]),
      ...Object.assign({}, ...Array.from({ length: layers }, (_, i) => layer(`model.layers.${i}`))),
    }),
  });

/** Bytes of heaps after two prompts of 256 tokens: the first makes the plan, the second has it. */
async function heapBytes(layers: number): Promise<number> {
  const model = await loadOnMetal(llama(layers));
  await expect.poll(() => standin.counters().heapBytes).toBe(0);
  const session = model.createSession({ path: 'exact', contextLength: 512 });
  for (let i = 0; i < 2; i++)
    await session.logits(
      Int32Array.from({ length: tokens }, (_, t) => (t * 7 + i) % vocabulary),
      { chunk: tokens },
    );
  const used = standin.counters().heapBytes;
  // Weights, caches and activations stay wired between command buffers.
  expect(standin.counters().residentBytes).toBeGreaterThan(used + layers * layerBytes);
  session.close();
  model.close();
  return used;
}

describe('a file longer than a buffer may be', () => {
  afterEach(() => standin.faults({}));

  test('is borrowed in stretches: nothing is copied, and the answer is the same', { timeout: 120_000 }, async () => {
    const folder = llama(4);
    const ids = Int32Array.from({ length: 2 }, (_, t) => (t * 7) % vocabulary);
    const answer = async () => {
      const model = await loadOnMetal(folder);
      const used = standin.counters().allocated;
      const session = model.createSession({ path: 'exact', contextLength: 64 });
      const scores = await session.logits(ids);
      session.close();
      model.close();
      await expect.poll(() => standin.counters().allocated).toBe(0);
      return { scores, used };
    };
    const whole = await answer();
    // Of about 4 MB; matrices of 256 KB, some of which lie across two stretches.
    standin.faults({ maxBuffer: 768 << 10 });
    const parts = await answer();
    expect(parts.scores).toEqual(whole.scores);
    // Rounded to pages, and what lies across counted twice; a copy of everything would double it.
    expect(parts.used).toBeLessThan(1.4 * whole.used);
  });
});

describe('activations', () => {
  test('of five layers need the memory of one', { timeout: 120_000 }, async () => {
    const one = await heapBytes(1);
    // x, the packed projection, q, the attention's output, the MLP's middle, and scores of one row; positions beside.
    const widths = hidden + 3 * hidden + hidden + hidden + inner;
    expect(one).toBeGreaterThanOrEqual(4 * tokens * widths);
    expect(one).toBeLessThan(4 * tokens * widths + (2 << 20));
    expect(await heapBytes(5)).toBe(one);
  });

  test('are given back with the model', async () => {
    expect(await heapBytes(1)).toBeGreaterThan(0);
    await expect.poll(() => standin.counters().heapBytes).toBe(0);
    await expect.poll(() => standin.counters().residentBytes).toBe(0);
  });
});
