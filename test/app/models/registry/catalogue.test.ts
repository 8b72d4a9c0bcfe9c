import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCatalogue } from '../../../../app/models/registry/catalogue.ts';
import { MODEL_TYPES } from '../../../../app/models/registry/supported-architectures.ts';
import { addon } from '../../../support/addon.ts';
import { realModel } from '../../../support/models/real-models.mjs';

const models = readCatalogue(
  readFileSync(join(import.meta.dirname, '../../../../resources/catalogue/models.json'), 'utf8'),
);
const strip = (id: string) => models.find((model) => model.id === id)?.layers ?? '';
const count = (layers: string, letter: string) => layers.split(letter).length - 1;

test('every model has its own id and every form its own repository', () => {
  expect(new Set(models.map((model) => model.id)).size).toBe(models.length);
  const repositories = models.flatMap((model) => model.forms.map((form) => form.repository));
  expect(new Set(repositories).size).toBe(repositories.length);
});

// Layer counts as published.
test.each([
  ['qwen3.5-0.8b', { L: 18, F: 6 }],
  ['qwen3.5-9b', { L: 24, F: 8 }],
  ['qwen3.5-27b', { L: 48, F: 16 }],
  ['qwen3.5-35b-a3b', { L: 30, F: 10 }],
  ['lfm2-1.2b', { C: 10, F: 6 }],
  ['lfm2-8b-a1b', { C: 18, F: 6 }],
  ['minicpm-sala-9b', { L: 24, S: 8 }],
  ['smollm2-135m', { F: 30 }],
])('%s has the layers of its architecture', (id, layers) => {
  for (const [letter, number] of Object.entries(layers)) expect(count(strip(id), letter)).toBe(number);
});

test('a wrong entry is refused', () => {
  expect(() => readCatalogue('{"models":[{"id":"x"}]}')).toThrow();
  expect(() => readCatalogue('{"models":[],"extra":1}')).toThrow();
});

test('every model is of a family that the engine runs', () => {
  for (const { id, family } of models) expect(MODEL_TYPES, id).toContain(family);
});

// The facts beside what the published files themselves say.
test.each([
  ['smollm2-135m', 'smollm2'],
  ['all-minilm-l6-v2', 'minilm'],
] as const)('%s is as its files say', async (id, name) => {
  const entry = models.find((model) => model.id === id);
  const { parameters, layers, contextLength, family } = await addon.inspect(await realModel(name));
  expect(entry).toMatchObject({ family, context: contextLength });
  // Files may hold buffers that are no parameters (BERT's position ids).
  expect(Math.abs((entry?.parameters ?? 0) / parameters - 1)).toBeLessThan(1e-4);
  expect(entry?.layers).toHaveLength(layers.length);
});
