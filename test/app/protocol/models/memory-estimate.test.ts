import { expect, test } from 'vitest';
import type { ModelDescription } from '../../../../app/protocol/index.ts';
import { forecast } from '../../../../app/protocol/models/memory-estimate.ts';

// The published shape of a small dense model, 4 bits: what matters here are its sizes.
const model: ModelDescription = {
  supported: true,
  problems: [],
  notices: [],
  family: 'qwen3',
  container: 'gguf',
  layers: [],
  hiddenSize: 1024,
  vocabularySize: 151_936,
  contextLength: 40_960,
  parameters: 596_049_920,
  weightBytes: 400e6,
  types: {},
  activeBytes: 320e6,
  stateBytes: 0,
  contextBytesPerToken: 28 * 2 * 8 * 128 * 2,
  memory: null,
  mtp: false,
  encoder: false,
  reranker: false,
  vision: null,
};

test('context memory grows with the context and shrinks with its type', () => {
  const machine = { limitBytes: 16e9, bandwidth: 100e9 };
  const at = (contextLength: number, kvType: 'f16' | 'q8' = 'f16') =>
    forecast(model, machine, { contextLength, kvType });
  expect(at(8192).context).toBe(8192 * 114_688);
  expect(at(8192, 'q8').context).toBeCloseTo(at(8192).context * 0.53125);
  expect(at(1_000_000).context).toBe(at(40_960).context);
  expect(at(40_960).tokensPerSecond).toBeLessThan(at(1024).tokensPerSecond ?? 0);
});

test('the verdict follows the limit of the machine, and names the longest context that fits', () => {
  const verdict = (limitBytes: number) => forecast(model, { limitBytes, bandwidth: null }, { contextLength: 8192 });
  const { total } = verdict(1e12);
  expect(verdict(total / 0.84).verdict).toBe('fits');
  expect(verdict(total / 0.9).verdict).toBe('tight');
  expect(verdict(total * 0.99).verdict).toBe('too-large');
  expect(verdict(total * 0.99).longestContext).toBeLessThan(8192);
  expect(
    forecast(
      model,
      { limitBytes: total * 0.99, bandwidth: null },
      { contextLength: verdict(total * 0.99).longestContext },
    ).verdict,
  ).toBe('tight');
  expect(verdict(1e8).longestContext).toBe(0);
  expect(verdict(1e12).tokensPerSecond).toBeNull();
});

test('a context longer than the model can read counts as the longest that it can', () => {
  const machine = { limitBytes: 16e9, bandwidth: 100e9 };
  const at = (contextLength: number) => forecast(model, machine, { contextLength });
  expect(at(262_144)).toEqual(at(model.contextLength));
  const encoder = { ...model, contextLength: 512, encoder: true };
  const of = (contextLength: number) => forecast(encoder, machine, { contextLength }).context;
  expect(of(131_072)).toBe(512 * model.contextBytesPerToken);
});
