import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CatalogueModel, forecast, type Variant } from '../../../../app/protocol/index.ts';
import { hubOf, isReference } from '../../../../renderer/stores/models/hub.ts';
import {
  bestFor,
  CONTEXTS,
  fitOf,
  fittingFirst,
  leastBytes,
  likelyDescription,
  qualityOf,
  stripOfLetters,
  suggestedVariant,
} from '../../../../renderer/stores/models/memory-fit.ts';
import { shapeOf } from '../../../support/fakes/models.ts';

const catalogue = CatalogueModel.array().parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../../resources/catalogue/models.json'), 'utf8')).models,
);
const machine = (gigabytes: number) => ({ limitBytes: gigabytes * 2 ** 30, bandwidth: 150e9, diskFree: 1e12 });
const chosen = { contextLength: 32_768, kvType: 'f16' as const };

test('the pick of a machine fits it with room to chat, and grows with the machine', () => {
  const sizes = [2, 8, 16, 64].map((gigabytes) => {
    const best = bestFor(catalogue, machine(gigabytes), true);
    if (!best) throw new Error(`nothing for ${gigabytes} GB`);
    expect(fitOf(likelyDescription(best), machine(gigabytes), chosen).verdict).toBe('fits');
    expect(best.abilities).not.toContain('embeddings');
    expect(best.forms.some(({ kind }) => kind !== 'safetensors')).toBe(true);
    return best.parameters;
  });
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(new Set(sizes).size).toBeGreaterThan(2);
  expect(bestFor(catalogue, machine(0.05), true)).toBeNull();
  // What does not chat, or wants a consent first, is nobody's first model, however well it fits.
  const [model] = catalogue.filter((one) => !one.abilities.includes('embeddings'));
  if (!model) throw new Error('the catalogue has no model');
  const encoder: CatalogueModel = { ...model, abilities: ['embeddings'] };
  const gated: CatalogueModel = { ...model, forms: model.forms.map((form) => ({ ...form, gated: true })) };
  expect(bestFor([encoder, gated], machine(512), true)).toBeNull();
});

// Of their configurations: layers that grow, heads of keys, their size; a key and a value of 16 bits each.
test.each([
  ['Qwen3.5 9B', 8 * 4 * 256 * 2 * 2],
  ['Qwen3.5 27B', 16 * 4 * 256 * 2 * 2],
  ['Llama 3.2 3B', 28 * 8 * 128 * 2 * 2],
])('what a conversation takes with %s is guessed within a factor of two before its headers are read', (name, bytes) => {
  const model = catalogue.find((one) => one.name === name);
  if (!model) throw new Error(`${name} is not in the catalogue`);
  const guess = likelyDescription(model).contextBytesPerToken;
  expect(guess / bytes).toBeGreaterThan(0.5);
  expect(guess / bytes).toBeLessThan(2);
});

test('without a GPU the pick is one that answers as fast as it is read', () => {
  const best = bestFor(catalogue, machine(64), false);
  expect(best?.activeParameters ?? best?.parameters).toBeLessThan(4.5e9);
});

test('models that fit stand before those that do not', () => {
  const verdicts = fittingFirst(catalogue, machine(8), chosen).map(
    (model) => fitOf(likelyDescription(model), machine(8), chosen).verdict,
  );
  const order = ['fits', 'tight', 'too-large'];
  expect(verdicts).toEqual(verdicts.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
});

test('what was never made in four bits is not promised in four bits', () => {
  const whole = catalogue.find(({ forms }) => forms.every(({ kind }) => kind === 'safetensors'));
  if (!whole) throw new Error('the catalogue has four bits for everything');
  expect(leastBytes(whole)).toBe(whole.parameters * 2);
});

const variants: Variant[] = (
  [
    ['BF16', 17.9e9],
    ['Q8_0', 9.5e9],
    ['Q5_K_M', 6.5e9],
    ['Q4_K_M', 5.4e9],
    ['Q3_K_M', 4.4e9],
  ] as const
).map(([label, bytes]) => ({
  id: `${label}.gguf`,
  label,
  kind: 'gguf',
  bytes,
  description: shapeOf('qwen3.5-9b', bytes, label),
  exact: true,
}));

test('the suggested form is balanced where it fits, and smaller where it must be', () => {
  expect(suggestedVariant(variants, machine(64), chosen)?.label).toBe('Q4_K_M');
  expect(suggestedVariant(variants, machine(7), chosen)?.label).toBe('Q3_K_M');
  expect(suggestedVariant(variants, machine(1), chosen)?.label).toBe('Q3_K_M');
  const unable = variants.map((one) => ({ ...one, description: { ...one.description, supported: false } }));
  expect(suggestedVariant(unable, machine(64), chosen)).toBeNull();
  expect(variants.map(qualityOf)).toEqual(['original', 'none', 'close', 'balance', 'weaker']);
});

test('layers by their letters', () => {
  expect(stripOfLetters('LLLFCS')).toEqual({
    looks: ['fixed', 'fixed', 'fixed', 'grows', 'fixed', 'grows'],
    counts: [
      ['linear', 3],
      ['conv', 1],
      ['full', 1],
      ['sparse', 1],
    ],
  });
});

test('the tag of a model says what the forecast says, on every machine and at every context', () => {
  const verdicts = new Set<string>();
  for (const gigabytes of [1, 4, 8, 16, 64])
    for (const contextLength of CONTEXTS)
      for (const kvType of ['f16', 'q8'] as const)
        for (const model of catalogue) {
          const description = likelyDescription(model);
          const told = fitOf(description, machine(gigabytes), { contextLength, kvType });
          expect(told).toEqual(forecast(description, machine(gigabytes), { contextLength, kvType }));
          verdicts.add(told.verdict);
        }
  expect(verdicts).toEqual(new Set(['fits', 'tight', 'too-large']));
});

test('a move of the slider recomputes a thousand rows within a frame', () => {
  const description = shapeOf('qwen3.5-9b', 5.4e9, 'Q4_K_M');
  const move = () => {
    const began = performance.now();
    for (let row = 0; row < 1000; row++)
      fitOf(description, machine(16), { contextLength: CONTEXTS[row % 7] as number, kvType: 'f16' });
    return performance.now() - began;
  };
  expect(Math.min(move(), move(), move())).toBeLessThan(16);
});

test('a name is told from words to search for', () => {
  expect(['org/name', 'org/name@main', 'https://x.y/z'].map(isReference)).toEqual([true, true, true]);
  expect(['qwen 4b', 'qwen', 'a / b', ''].map(isReference)).toEqual([false, false, false, false]);
  expect(hubOf(null)).toBe('huggingface.co');
  expect(hubOf('http://127.0.0.1:90')).toBe('127.0.0.1:90');
});
