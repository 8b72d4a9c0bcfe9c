import { expect, test } from 'vitest';
import { MODEL_TYPES, runsByCard } from '../../../../app/models/registry/supported-architectures.ts';
import { addon } from '../../../support/addon.ts';

/** What the engine says to a configuration that names nothing but its family. */
const problemsOf = (type: string) => addon.describe(JSON.stringify({ model_type: type }), [], 'safetensors').problems;
const unknown = problemsOf('nobody')[0] ?? '';

test('the list is the engine’s: every name is known to it, and every family of it has a name', () => {
  for (const type of MODEL_TYPES) expect(problemsOf(type)[0], type).not.toMatch(/is unknown/);
  const families = (/known are (.+)$/.exec(unknown)?.[1] ?? '').split(', ').filter((name) => name !== 'llama-mla');
  expect(families.length).toBeGreaterThan(5);
  for (const family of families) expect(MODEL_TYPES).toContain(family);
});

test('a card tells what runs, what does not, or nothing', () => {
  expect(runsByCard('qwen3_5', [])).toBe(true);
  expect(runsByCard('mistral', ['qwen3'])).toBe(false);
  expect(runsByCard(undefined, ['gguf', 'lfm2'])).toBe(true);
  expect(runsByCard(undefined, ['gguf'])).toBe(null);
});
