// The drafting head of Qwen3.5: from the embedding of the next token and the hidden state after the final norm.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon, golden } from '../support/addon.ts';
import { asFloats, readSafetensors, safetensors, temporaryFolder } from '../support/models/formats.ts';
import { type HubConfig, type Tensors, toGguf } from '../support/models/gguf-conversion.ts';
import { instructionSets, largestDifference } from '../support/models/golden.ts';

interface Facts {
  prompts: Record<string, { prompt_ids: number[]; next_token: number; drafts_3: number[] }>;
  tolerance: { logits_max_abs_fp32: number };
}

/** The main model with the head's tensors, as the published checkpoints have them, or converted: the head is one more block. */
function withHead(name: string, container: 'safetensors' | 'gguf'): string {
  const main = join(golden, 'qwen3_5', name);
  const files = [join(main, 'model.safetensors'), join(golden, 'qwen3_5_mtp', name, 'mtp.safetensors')];
  const tensors: Tensors = Object.assign({}, ...files.map((file) => readSafetensors(readFileSync(file))));
  const config = readFileSync(join(main, 'config.json'));
  if (container === 'safetensors') {
    return temporaryFolder({ 'config.json': config, 'model.safetensors': safetensors(tensors) });
  }
  const { text_config, ...rest } = JSON.parse(config.toString()) as HubConfig & { text_config?: HubConfig };
  return join(temporaryFolder({ 'model.gguf': toGguf('qwen35', text_config ?? rest, tensors) }), 'model.gguf');
}

const argmax = (row: Float32Array) => row.reduce((best, value, i) => (value > (row[best] ?? 0) ? i : best), 0);

describe.each(instructionSets)('%s', (cpu) => {
  test.each([
    ['dense_tied', 'safetensors'],
    ['dense_gqa_mixed', 'safetensors'],
    ['dense_tied', 'gguf'],
    ['dense_gqa_mixed', 'gguf'],
  ] as const)('%s from %s', async (name, container) => {
    const folder = join(golden, 'qwen3_5_mtp', name);
    const { prompts, tolerance } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Facts;
    const expected = readSafetensors(readFileSync(join(folder, 'expected.safetensors')));
    const wanted = (tensor: string) => asFloats(expected[tensor]?.bytes ?? new Uint8Array());
    const model = await addon.load(withHead(name, container), { cpu });
    expect(model.description.mtp).toBe(true);
    for (const [prompt, { prompt_ids, next_token, drafts_3 }] of Object.entries(prompts)) {
      const tokens = Int32Array.from(prompt_ids);
      const next = Int32Array.from([...prompt_ids.slice(1), next_token]);
      const { data, columns } = await model.draftLogits(tokens, next, { steps: 3 });
      const overPrompt = data.subarray(0, tokens.length * columns);
      expect(largestDifference(overPrompt, wanted(`draft_logits.${prompt}`)), prompt).toBeLessThanOrEqual(
        tolerance.logits_max_abs_fp32,
      );
      const chain = data.subarray((tokens.length - 1) * columns);
      expect(largestDifference(chain, wanted(`chain_logits.${prompt}`)), `${prompt}, chain`).toBeLessThanOrEqual(
        tolerance.logits_max_abs_fp32,
      );
      const drafts = [0, 1, 2].map((row) => argmax(chain.subarray(row * columns, (row + 1) * columns)));
      expect(drafts, prompt).toEqual(drafts_3);
    }
    model.close();
  });
});
