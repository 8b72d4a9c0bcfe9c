import { expect, test } from 'vitest';
import { addRun } from '../../../app/store/runs.ts';
import { open } from './support.ts';

type Measured = Parameters<typeof addRun>[1];

const measured = (promptTokens: number, cachedTokens: number): Measured => ({
  batch: null,
  messageId: null,
  chatId: null,
  at: 1,
  model: 'Starter',
  backEnd: 'cpu',
  engine: '1',
  memoryBytes: null,
  disturbed: false,
  curve: [],
  usage: { promptTokens, cachedTokens, thinkingTokens: 0, answerTokens: 8 },
  timings: { firstTokenMs: 60, prefillMs: 50, tokensPerSecond: 40 } as Measured['timings'],
});

test('a speed of reading is told from enough new tokens: a few would measure the start', async () => {
  const { db } = await open();
  expect(addRun(db, measured(1000, 0)).prefill).toBe(20_000);
  expect(addRun(db, measured(1000, 984)).prefill).toBe(320);
  expect(addRun(db, measured(1000, 985)).prefill).toBeNull();
});
