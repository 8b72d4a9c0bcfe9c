// A Llama that was never trained, and reads text.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSafetensors, type Entry } from '../../../app/conversion/safetensors-file.ts';
import { golden } from '../addon.ts';

const VOCABULARY = 640;
const HEADS = 4;
const KV_HEADS = 2;

/** Writes it into a folder, which is returned. By default it has the shape of the golden case mha2mla/base. */
export async function readingLlama(
  folder: string,
  { hidden = 64, layers = 2, dim = hidden / HEADS }: { hidden?: number; layers?: number; dim?: number } = {},
): Promise<string> {
  let state = 1;
  const values = (count: number, size: number) =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return size * (state / 2 ** 31 - 1);
    });
  const tensors: (Entry & { values: Float32Array })[] = [];
  const put = (name: string, shape: number[], given?: Float32Array) => {
    const count = shape.reduce((product, size) => product * size, 1);
    const own = given ?? values(count, (shape[1] ?? 1) ** -0.5);
    tensors.push({ name: `model.${name}.weight`, type: 'F32', shape, values: own });
  };
  const ones = () => new Float32Array(hidden).fill(1);
  const wide = 1.5 * hidden;
  put('embed_tokens', [VOCABULARY, hidden]);
  put('norm', [hidden], ones());
  for (let layer = 0; layer < layers; layer++) {
    const at = `layers.${layer}`;
    put(`${at}.input_layernorm`, [hidden], ones());
    put(`${at}.post_attention_layernorm`, [hidden], ones());
    put(`${at}.self_attn.q_proj`, [HEADS * dim, hidden]);
    put(`${at}.self_attn.k_proj`, [KV_HEADS * dim, hidden]);
    put(`${at}.self_attn.v_proj`, [KV_HEADS * dim, hidden]);
    put(`${at}.self_attn.o_proj`, [hidden, HEADS * dim]);
    put(`${at}.mlp.gate_proj`, [wide, hidden]);
    put(`${at}.mlp.up_proj`, [wide, hidden]);
    put(`${at}.mlp.down_proj`, [hidden, wide]);
  }
  const config = JSON.parse(readFileSync(join(golden, 'mha2mla/base/config.json'), 'utf8'));
  const file = await createSafetensors(join(folder, 'model.safetensors'), tensors, 'pt');
  for (const { name, values } of tensors) await file.put(name, new Uint8Array(values.buffer), 0);
  await file.close();
  const shape = { hidden_size: hidden, head_dim: dim, intermediate_size: wide, num_hidden_layers: layers };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...shape, vocab_size: VOCABULARY }));
  copyFileSync(join(golden, 'tokenizers/bpe_smollm/tokenizer.json'), join(folder, 'tokenizer.json'));
  return folder;
}
