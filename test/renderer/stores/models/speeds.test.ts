import { expect, test } from 'vitest';
import type { Run } from '../../../../app/protocol/index.ts';
import { measuredFor, speedOf } from '../../../../renderer/stores/models/speeds.ts';
import { installed, shapeOf } from '../../../support/fakes/models.ts';

const run = (model: string, decode: number | null, more: Partial<Run> = {}): Run => ({
  id: 1,
  batch: null,
  messageId: null,
  chatId: null,
  at: 1000,
  model,
  backEnd: 'cpu',
  engine: '0',
  promptTokens: 20,
  cachedTokens: 0,
  tokens: 64,
  prefill: null,
  decode,
  firstTokenMs: 1,
  memoryBytes: null,
  disturbed: false,
  curve: [],
  ...more,
});

test('the speed of a model is the middle of its undisturbed answers that were long enough', () => {
  const runs = [
    run('A', 10),
    run('A', 30, { at: 2000 }),
    run('A', 20),
    run('A', 900, { disturbed: true }),
    run('A', 800, { tokens: 3 }),
    run('A', null),
    run('B', 99),
  ];
  expect(speedOf('A', runs)).toEqual({ median: 20, fastest: 30, at: 2000 });
  expect(speedOf('C', runs)).toBe(null);
});

test('what was measured for exactly these weights takes the place of an estimate', () => {
  const models = [installed('qwen3.5-9b', 5.6e9, 'Q4_K_M', { name: 'Qwen3.5 9B Q4_K_M' })];
  const runs = [run('Qwen3.5 9B Q4_K_M', 25)];
  expect(measuredFor(shapeOf('qwen3.5-9b', 5.6e9, 'Q4_K_M'), models, runs)).toBe(25);
  expect(measuredFor(shapeOf('qwen3.5-9b', 9.5e9, 'Q8_0'), models, runs)).toBe(null);
});
