// Llama models converted to latent attention: both layouts, joint and split factors, every selection of rotary pairs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { readSafetensors, temporaryFolder } from '../support/formats.ts';
import { type Case, checkLogits, instructionSets, readCase } from '../support/golden.ts';

const cases = [
  'high_r2_joint_rank4',
  'high_r2_split_rank8',
  'low_r2_joint_rank8',
  'low_r4_split_rank4',
  'uniform_r2_split_rank4',
  'uniform_r4_joint_rank8',
  '2-norm_r2_joint_rank8',
  '2-norm_r4_split_rank4',
];

/** What the conversion measured goes where a user would put it: into config.json. */
function configured(reference: Case, file: string): string {
  const config = JSON.parse(readFileSync(join(reference.folder, 'config.json'), 'utf8')) as {
    RoPE: Record<string, unknown>;
  };
  const stored = readSafetensors(readFileSync(join(reference.folder, 'expected.safetensors'))).kept_pairs;
  if (stored === undefined) throw new Error('the golden case has no kept_pairs');
  const [layers = 0, heads = 0, pairs = 0] = stored.shape;
  const width = stored.bytes.length / (layers * heads * pairs);
  const view = new DataView(Uint8Array.from(stored.bytes).buffer);
  const read = (i: number) => (width === 4 && stored.dtype === 'F32' ? view.getFloat32(i * width, true) : view.getInt32(i * width, true));
  config.RoPE.kept_pairs = Array.from({ length: layers }, (_, l) =>
    Array.from({ length: heads }, (_h, h) => Array.from({ length: pairs }, (_p, p) => read((l * heads + h) * pairs + p))),
  );
  return temporaryFolder({
    'config.json': JSON.stringify(config),
    'model.safetensors': readFileSync(join(reference.folder, file)),
  });
}

describe.each(instructionSets)('%s', (cpu) => {
  test.each(cases)('%s', async (name) => {
    const reference = readCase(`mha2mla/${name}`);
    const files = ['model.safetensors', 'model_old_layout.safetensors'].filter((file) =>
      existsSync(join(reference.folder, file)),
    );
    for (const file of files) {
      const path = name.startsWith('2-norm') ? configured(reference, file) : join(reference.folder, file);
      const model = await addon.load(path, { cpu });
      expect(model.description.layers.map(({ kind }) => kind)).toEqual(['latent', 'latent']);
      await checkLogits(model, reference);
      model.close();
    }
  });
});

test('a measured selection that nobody gives is asked for', async () => {
  const { problems } = await addon.inspect(readCase('mha2mla/2-norm_r2_joint_rank8').folder);
  expect(problems).toEqual([expect.stringContaining('"RoPE.kept_pairs" must list')]);
});
