// Every input the fuzzer found worth keeping goes through the built addon: a value or a refusal with a sentence, never a
// crash. Runs without clang; test/fuzz/run.mjs looks for new ones.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addon } from '../support/addon.ts';
import { formats } from '../support/models/formats.ts';

/** Input as in test/fuzz/config.cc. */
function config(input: Buffer): unknown {
  if (input.length < 4) return undefined;
  const length = input.readUInt32LE(0);
  if (length > input.length - 4) return undefined;
  return formats.assemble(input.subarray(4, 4 + length).toString(), input.subarray(4 + length));
}

/** Input as in test/fuzz/describe.cc. */
function describeHeaders(input: Buffer): unknown {
  const { container, config, tensors } = formats.parseJson(input) as {
    container?: 'safetensors' | 'mlx' | 'gguf';
    config?: unknown;
    tensors?: [string, string, number[]][];
  };
  const table = (Array.isArray(tensors) ? tensors : []).filter((entry) => Array.isArray(entry) && entry.length === 3);
  const entries = table.map(([name, type, shape]) => ({
    name: String(name),
    type: String(type),
    shape: Array.isArray(shape) ? shape : [],
  }));
  const known = container === 'gguf' || container === 'mlx' ? container : 'safetensors';
  return addon.describe(JSON.stringify(config ?? null), entries, known);
}

const targets: Record<string, (input: Buffer) => unknown> = {
  json: (input) => formats.parseJson(input),
  safetensors: (input) => formats.readSafetensors(input),
  gguf: (input) => formats.readGguf(input),
  config,
  describe: describeHeaders,
};

const corpus = join(import.meta.dirname, 'corpus');
test('every corpus has a target', () => {
  expect(readdirSync(corpus).sort()).toEqual(Object.keys(targets).sort());
});

describe.each(Object.entries(targets))('%s', (name, run) => {
  const inputs = readdirSync(join(corpus, name));
  test(`${inputs.length} inputs`, () => {
    const outcomes = { read: 0, refused: 0 };
    for (const file of inputs) {
      try {
        run(readFileSync(join(corpus, name, file)));
        ++outcomes.read;
      } catch (error) {
        expect(error, file).toMatchObject({ code: expect.stringMatching(/^(format|unsupported|memory)$/) });
        expect((error as Error).message, file).toMatch(/^\[\w+\] .{10}/);
        ++outcomes.refused;
      }
    }
    expect(outcomes.read).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});
