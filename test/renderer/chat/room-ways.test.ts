import { expect, test } from 'vitest';
import type { ModelDescription } from '../../../app/protocol/index.ts';
import { smallerContext } from '../../../renderer/chat/context-size.ts';
import { bestWay, largerOf } from '../../../renderer/chat/room-ways.ts';
import { waysOut } from '../../../renderer/chat/ways.ts';

const GB = 2 ** 30;
const model = {
  contextLength: 131_072,
  contextBytesPerToken: 32_768,
  weightBytes: 2 * GB,
  stateBytes: 0,
  activeBytes: 2 * GB,
  hiddenSize: 2048,
  vocabularySize: 100_000,
} as ModelDescription;
const machine = (limitBytes: number) => ({ limitBytes, bandwidth: null, diskFree: 0 });
const full = { used: 29_800, draft: 6400, limit: 32_768 };
const offer = { upTo: 'm' as never, turns: 6, frees: 8000, seconds: null };

test('a larger context has its price, what is free, and a verdict from the memory of now', () => {
  expect(largerOf(full, model, machine(13 * GB))).toMatchObject({ size: 49_152, more: 0.5 * GB, verdict: 'fits' });
  expect(largerOf(full, model, machine(3.4 * GB))?.verdict).toBe('too-large');
  expect(largerOf(full, { ...model, contextLength: 32_768 }, machine(13 * GB))).toBeNull();
  expect(largerOf(full, model, null)).toMatchObject({ free: null, verdict: null });
});

test('the best way loses nothing where memory allows it, and as little as may be otherwise', () => {
  const fits = largerOf(full, model, machine(13 * GB));
  const tooLarge = largerOf(full, model, machine(3.4 * GB));
  expect(bestWay(fits, { aside: offer, summary: offer })).toBe('larger');
  expect(bestWay(tooLarge, { aside: offer, summary: offer })).toBe('aside');
  expect(bestWay(null, { aside: null, summary: offer })).toBe('summary');
  expect(bestWay(null, null)).toBe('new-chat');
});

test('a smaller context is half of what was too much, or what is known to fit', () => {
  expect(smallerContext(32_768, null)).toBe(16_384);
  expect(smallerContext(24_000, null)).toBe(16_384);
  expect(smallerContext(32_768, 5000)).toBe(4864);
  expect(smallerContext(512, null)).toBeNull();
  expect(smallerContext(0, null)).toBeNull();
});

test('an engine that stays down offers less to do and another way to do it; one that comes back needs none', () => {
  expect(waysOut('engine-lost', 'restarting')).toEqual([]);
  expect(waysOut('engine-lost', 'stopped')).toContain('smaller-context');
  expect(waysOut('out-of-memory', 'ready')[0]).toBe('smaller-context');
});
