import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import { abortFlag } from '../../engine/process/addon.ts';
import { createSafetensors, type Entry } from '../safetensors-file.ts';

//  A layer computed by the engine: as a model that has no other, and whose vocabulary are the states of a text, one a token.

/** By name, without `model.layers.0.`. */
export type LayerTensors = ReadonlyMap<string, { shape: readonly number[]; values: Float32Array }>;

export type OneLayer = {
  addon: typeof Addon;
  /** A folder for the model, made and removed. */
  folder: string;
  /** Of the whole model. */
  config: Readonly<Record<string, unknown>>;
  tensors: LayerTensors;
  /** Tokens of each window of the text. */
  lengths: readonly number[];
  signal: AbortSignal;
};

/** The states behind the layer, [tokens, hidden], of those before it. */
export async function statesBehind(
  { addon, folder, config, tensors, lengths, signal }: OneLayer,
  states: Float32Array,
): Promise<Float32Array> {
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  const hidden = states.length / tokens;
  const all = new Map([
    ['model.embed_tokens.weight', { shape: [tokens, hidden], values: states }],
    ['model.norm.weight', { shape: [hidden], values: new Float32Array(hidden).fill(1) }],
    ...[...tensors].map(([name, tensor]) => [`model.layers.0.${name}`, tensor] as const),
  ]);
  // A flag of its own: closing a model may set that of what it did last.
  const { flag, release } = abortFlag(addon, signal);
  await mkdir(folder);
  try {
    const entries = [...all].map(([name, { shape }]): Entry => ({ name, type: 'F32', shape }));
    const file = await createSafetensors(join(folder, 'model.safetensors'), entries, 'pt');
    try {
      for (const [name, { values }] of all)
        await file.put(name, new Uint8Array(values.buffer, values.byteOffset, values.byteLength), 0);
    } finally {
      await file.close();
    }
    const one = { ...config, num_hidden_layers: 1, vocab_size: tokens, tie_word_embeddings: true };
    await writeFile(join(folder, 'config.json'), JSON.stringify({ ...one, bos_token_id: 0, eos_token_id: 0 }));
    const model = await addon.load(folder, { device: 'cpu', signal: flag });
    return await traced(model, lengths, flag, states.length);
  } finally {
    release();
    await rm(folder, { recursive: true, force: true });
  }
}

async function traced(
  model: Addon.Model,
  lengths: readonly number[],
  flag: Addon.AbortFlag,
  size: number,
): Promise<Float32Array> {
  const out = new Float32Array(size);
  try {
    const session = model.createSession({ path: 'exact' });
    let first = 0;
    let at = 0;
    for (const length of lengths) {
      const ids = Int32Array.from({ length }, (_, i) => first + i);
      const behind = (await session.trace(ids, { path: 'exact', signal: flag })).find(({ name }) => name === 'layer.0');
      if (behind === undefined) throw new Error('[one-layer] the engine traced no layer');
      out.set(behind.data, at);
      first += length;
      at += behind.data.length;
    }
    return out;
  } finally {
    model.close();
  }
}
