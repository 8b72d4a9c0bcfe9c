import { expect, test } from 'vitest';
import { addRun, cacheHitShare } from '../../../app/store/runs.ts';
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

test('the share of known tokens counts chats since a time, and no benchmarks', async () => {
  const { db } = await open();
  expect(cacheHitShare(db, 0)).toBeNull();
  addRun(db, { ...measured(1000, 0), at: 9 });
  addRun(db, { ...measured(300, 200), at: 10 });
  addRun(db, { ...measured(100, 100), at: 11 });
  addRun(db, { ...measured(5000, 0), at: 11, batch: 'benchmark' });
  expect(cacheHitShare(db, 10)).toBe(0.75);
});
