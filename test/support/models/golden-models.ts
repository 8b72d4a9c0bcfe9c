// Whole models of every family on one back end, with the references and tolerances of test/golden. To be quick on a stand-in
// or a software driver, only the shortest prompt is also read token by token, and only the longest in chunks of 37.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Model } from '../../../native/addon/index.d.ts';
import {
  convertedFile,
  ggufConverted,
  ggufFiles,
  latent,
  latentFolder,
  mlxFolders,
  published,
} from '../../golden/cases.ts';
import { golden } from '../addon.ts';
import { soaking } from '../soak.ts';
import { asFloats, readSafetensors, safetensors, temporaryFolder } from './formats.ts';
import {
  type Case,
  checkGreedy,
  checkHidden,
  checkStates,
  exactSession,
  largestDifference,
  readCase,
  required,
} from './golden.ts';

/** With `npm run test:soak`, every prompt is read in every way. */
const timeout = soaking ? 3_600_000 : 240_000;

const stored: [title: string, name: string, file: string, prefix: string][] = [
  ['bf16', 'qwen3_5/dense_tied', 'model_bf16.safetensors', 'bf16_weights.logits.'],
  ['experts one a tensor', 'qwen3_5_moe/top3', 'model_per_expert.safetensors', 'logits.'],
  ...ggufFiles.map(
    ([name, file]) =>
      [`GGUF ${name} ${file}`, `gguf_models/${name}`, `model-${file}.gguf`, `${file}.logits.`] satisfies [
        string,
        string,
        string,
        string,
      ],
  ),
  ...mlxFolders.map(
    (name) => [`MLX ${name}`, `mlx_models/${name}`, '', 'logits.'] satisfies [string, string, string, string],
  ),
];

/** The case with only its shortest and its longest prompt. */
function ends(reference: Case): Case {
  const prompts = reference.prompts.toSorted((a, b) => a.ids.length - b.ids.length);
  const [shortest, longest] = [prompts[0], prompts.at(-1)];
  return { ...reference, prompts: [shortest, longest].filter((prompt) => prompt !== undefined) };
}

async function logitsOf(model: Model, reference: Case, prefix: string): Promise<void> {
  const prompts = reference.prompts.filter(({ name }) => reference.expected(`${prefix}${name}`) !== undefined);
  expect(prompts.length).toBeGreaterThan(0);
  const [shortest, longest] = ends({ ...reference, prompts }).prompts;
  for (const prompt of prompts) {
    const session = exactSession(model);
    const chunks = new Set([
      prompt.ids.length,
      ...(soaking || prompt === shortest ? [1] : []),
      ...(soaking || prompt === longest ? [37] : []),
      ...(soaking ? [7, 64] : []),
    ]);
    for (const chunk of chunks) {
      const got = await session.logits(prompt.ids, { all: true, chunk });
      const difference = largestDifference(got.data, required(reference, `${prefix}${prompt.name}`));
      expect(difference, `${prompt.name} in chunks of ${chunk}`).toBeLessThanOrEqual(reference.logitsTolerance);
    }
    session.close();
  }
}

/** @param load a model of a file or folder, on the back end that is tested */
export function goldenModels(title: string, load: (path: string) => Promise<Model>): void {
  describe(title, () => {
    test.each(published)('%s gives the numbers of the reference', { timeout }, async (name) => {
      const reference = readCase(name);
      const model = await load(reference.folder);
      await logitsOf(model, reference, 'logits.');
      await checkHidden(model, ends(reference));
      await checkStates(model, ends(reference));
      await checkGreedy(model, { ...reference, prompts: reference.prompts.slice(0, 1) });
      model.close();
    });

    test.each(stored)('%s', { timeout }, async (_title, name, file, prefix) => {
      const reference = readCase(name);
      const model = await load(join(reference.folder, file));
      await logitsOf(model, reference, prefix);
      model.close();
    });

    test.each(ggufConverted)('GGUF %s of %s', { timeout }, async (architecture, name, weights) => {
      const model = await load(convertedFile(architecture, name, weights));
      await logitsOf(model, readCase(name), 'logits.');
      model.close();
    });

    test.each(latent)('latent attention, %s', { timeout }, async (name) => {
      const model = await load(latentFolder(name));
      await logitsOf(model, readCase(`mha2mla/${name}`), 'logits.');
      model.close();
    });

    test('bert/tiny', async () => {
      const folder = join(golden, 'bert', 'tiny');
      const { prompts, tolerance } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
        prompts: Record<string, { ids: number[]; attention_mask: number[] }>;
        tolerance: { max_abs: number };
      };
      const expected = readSafetensors(readFileSync(join(folder, 'expected.safetensors')));
      const model = await load(folder);
      for (const [name, { ids, attention_mask }] of Object.entries(prompts)) {
        const vector = await model.embed(Int32Array.from(ids.filter((_, i) => attention_mask[i] === 1)));
        const wanted = asFloats(expected[`embedding.${name}`]?.bytes ?? new Uint8Array());
        expect(largestDifference(vector, wanted), name).toBeLessThanOrEqual(tolerance.max_abs);
      }
      model.close();
    });

    test.each(['dense_tied', 'dense_gqa_mixed'])('the drafting head of qwen3_5/%s', async (name) => {
      const main = join(golden, 'qwen3_5', name);
      const head = join(golden, 'qwen3_5_mtp', name);
      const facts = JSON.parse(readFileSync(join(head, 'expected.json'), 'utf8')) as {
        prompts: Record<string, { prompt_ids: number[]; next_token: number }>;
        tolerance: { logits_max_abs_fp32: number };
      };
      const expected = readSafetensors(readFileSync(join(head, 'expected.safetensors')));
      const tensors = [join(main, 'model.safetensors'), join(head, 'mtp.safetensors')];
      const model = await load(
        temporaryFolder({
          'config.json': readFileSync(join(main, 'config.json')),
          'model.safetensors': safetensors(
            Object.assign({}, ...tensors.map((file) => readSafetensors(readFileSync(file)))),
          ),
        }),
      );
      for (const [prompt, { prompt_ids, next_token }] of Object.entries(facts.prompts)) {
        const next = Int32Array.from([...prompt_ids.slice(1), next_token]);
        const { data } = await model.draftLogits(Int32Array.from(prompt_ids), next);
        const wanted = asFloats(expected[`draft_logits.${prompt}`]?.bytes ?? new Uint8Array());
        expect(largestDifference(data.subarray(0, wanted.length), wanted), prompt).toBeLessThanOrEqual(
          facts.tolerance.logits_max_abs_fp32,
        );
      }
      model.close();
    });
  });
}
