import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CatalogueModel, forecast, type Variant } from '../../../../app/protocol/index.ts';
import { hubOf, isReference } from '../../../../renderer/stores/models/hub.ts';
import {
  bestFor,
  CONTEXTS,
  computerFor,
  contextsOf,
  fitOf,
  fittingFirst,
  leastBytes,
  likelyDescription,
  purposeOf,
  qualityOf,
  stripOfLetters,
  suggestedVariant,
  typeOf,
  wordsPerSecond,
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

const [plain] = catalogue.filter(({ abilities, forms }) => !abilities.includes('embeddings') && forms.length > 0);
const model = (change: Partial<CatalogueModel> = {}): CatalogueModel => {
  const { activeParameters: _, ...rest } = plain as CatalogueModel;
  return { ...rest, abilities: [], forms: [{ kind: 'gguf', repository: 'a/b' }], layers: 'FFFF', ...change };
};

test('the contexts to choose from end with what the model can', () => {
  expect(contextsOf({ contextLength: 2048 })).toEqual([2048]);
  expect(contextsOf({ contextLength: 4096 })).toEqual([4096]);
  expect(contextsOf({ contextLength: 5000 })).toEqual([4096, 5000]);
  expect(contextsOf({ contextLength: 262_144 })).toEqual([...CONTEXTS]);
  expect(contextsOf({ contextLength: 262_145 })).toEqual([...CONTEXTS]);
});

test.each([
  [499e6, undefined, 'trial'],
  [500e6, undefined, 'short'],
  [999e6, undefined, 'short'],
  [1e9, undefined, 'everyday'],
  [2.499e9, undefined, 'everyday'],
  [2.5e9, undefined, 'writing'],
  [5.99e9, undefined, 'writing'],
  [6e9, undefined, 'reasoning'],
  [14.9e9, undefined, 'reasoning'],
  [15e9, undefined, 'hard'],
  [30e9, 4.9e9, 'quick-hard'],
  [30e9, 5e9, 'hard'],
  // As good as one of three billion.
  [9e9, 1e9, 'writing'],
] as const)('a model of %d parameters, %s of them active, is good for: %s', (parameters, activeParameters, purpose) => {
  const active = activeParameters !== undefined && { activeParameters };
  expect(purposeOf(model({ parameters, ...active }))).toBe(purpose);
  expect(purposeOf(model({ parameters, ...active, abilities: ['embeddings'] }))).toBe('search');
});

test('of a mixture only the active part is read for a token', () => {
  const dense = likelyDescription(model({ parameters: 8e9 }));
  expect(dense.activeBytes).toBe(dense.weightBytes);
  expect(dense.weightBytes).toBeCloseTo(4.85e9, -3);
  const mixture = likelyDescription(model({ parameters: 8e9, activeParameters: 1e9 }));
  expect(mixture.activeBytes).toBeCloseTo(dense.weightBytes / 8, -3);
  const speed = (description: typeof dense) => wordsPerSecond(description, machine(64)) ?? 0;
  const tokens = forecast(dense, machine(64), { contextLength: 4096 }).tokensPerSecond ?? 0;
  expect(speed(dense)).toBeCloseTo(0.75 * tokens, 6);
  expect(speed(mixture)).toBeGreaterThan(3 * speed(dense));
  expect(wordsPerSecond(dense, { ...machine(64), bandwidth: null })).toBeNull();
});

test('the computer that a model wants has it in seven tenths of its memory, in a size that is sold', () => {
  const needed = (parameters: number) =>
    forecast(likelyDescription(model({ parameters })), machine(1e6), { contextLength: 32_768 }).total / 0.7 / 2 ** 30;
  for (const parameters of [0.5e9, 2e9, 8e9, 30e9, 70e9]) {
    const computer = computerFor(model({ parameters }));
    expect(computer).toBeGreaterThanOrEqual(needed(parameters));
    expect([4, 8, 12, 16, 24, 32, 48, 64, 96, 128].filter((size) => size >= needed(parameters))[0]).toBe(computer);
  }
  const huge = computerFor(model({ parameters: 400e9 }));
  expect(huge % 64).toBe(0);
  expect(huge - needed(400e9)).toBeGreaterThanOrEqual(0);
  expect(huge - needed(400e9)).toBeLessThan(64);
});

test('the pick without a GPU: by the active part of a mixture, the largest of those, and where one source asks for no consent', () => {
  const pick = (...models: CatalogueModel[]) => bestFor(models, machine(512), false)?.parameters;
  expect(pick(model({ parameters: 4.5e9 }), model({ parameters: 4.6e9 }))).toBe(4.5e9);
  expect(pick(model({ parameters: 2e9 }), model({ parameters: 30e9, activeParameters: 3e9 }))).toBe(30e9);
  expect(pick(model({ parameters: 30e9, activeParameters: 5e9 }))).toBeUndefined();
  const sizes = [1e9, 3e9, 2e9].map((parameters) => model({ parameters }));
  expect(pick(...sizes)).toBe(3e9);
  expect(fittingFirst(sizes, machine(512), chosen).map(({ parameters }) => parameters)).toEqual([3e9, 2e9, 1e9]);
  const half = [
    { kind: 'gguf' as const, repository: 'a/b', gated: true },
    { kind: 'gguf' as const, repository: 'a/c' },
  ];
  expect(pick(model({ parameters: 1e9, forms: half }))).toBe(1e9);
});

test.each([
  [15, 'original'],
  [14.9, 'none'],
  [7.5, 'none'],
  [7.4, 'close'],
  [5.3, 'close'],
  [5.2, 'balance'],
  [4.2, 'balance'],
  [4.1, 'weaker'],
  [3.2, 'weaker'],
  [3.1, 'poor'],
] as const)('%d bits a weight: %s', (bits, quality) => {
  const description = { ...shapeOf('qwen3.5-9b', 1, 'x'), parameters: 1000 };
  expect(qualityOf({ bytes: bits * 125, description })).toBe(quality);
});

test('where no Q4_K_M is, the largest that is balanced; else the largest that is not the original, else that, else the smallest', () => {
  const description = { ...shapeOf('qwen3.5-9b', 1, 'x'), parameters: 8e9, memory: null, activeBytes: 1 };
  const of = (label: string, bits: number): Variant => {
    const bytes = bits * 1e9;
    return { id: label, label, kind: 'gguf', bytes, description: { ...description, weightBytes: bytes }, exact: true };
  };
  const best = (given: Variant[], gigabytes = 512) => suggestedVariant(given, machine(gigabytes), chosen)?.label;
  expect(best([of('Q4_K_S', 4.3), of('Q4_1', 5), of('IQ4', 4.5)])).toBe('Q4_1');
  expect(best([of('Q4_1', 5), of('Q4_K_M', 4.8)])).toBe('Q4_K_M');
  expect(best([of('BF16', 16), of('Q6', 6.5), of('Q8', 8.5)])).toBe('Q8');
  expect(best([of('BF16', 16)])).toBe('BF16');
  expect(best([of('Q4_K_M', 4.8), of('Q2', 2.5), of('Q3', 3.5)], 0.5)).toBe('Q2');
  expect(best([])).toBeUndefined();
});

test('a form is named by the type of most of its bytes, one of MLX by its bits', () => {
  const shape = shapeOf('qwen3.5-9b', 1, 'x');
  expect(typeOf({ ...shape, types: { f32: 10, q4_k: 900, q6_k: 400 } })).toBe('Q4_K');
  expect(typeOf({ ...shape, types: {} })).toBeNull();
  const mlx = { ...shape, container: 'mlx' as const, parameters: 1000 };
  expect(typeOf({ ...mlx, weightBytes: 568 })).toBe('4-bit');
  expect(typeOf({ ...mlx, weightBytes: 1000 })).toBe('8-bit');
});
