import { expect, test } from 'vitest';
import type { ModelDescription, ModelEntry } from '../../../../app/protocol/index.ts';
import { smallerContext } from '../../../../renderer/chat/overflow/context-size.ts';
import {
  bestWay,
  fitsAlone,
  largerOf,
  otherModelFor,
  type Possible,
} from '../../../../renderer/chat/overflow/overflow-options.ts';
import { recoveryActions } from '../../../../renderer/chat/overflow/recovery-actions.ts';

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
const nothing: Possible = { larger: null, plan: null, other: null, searchable: false, resumes: false };
const entry = (id: string, contextLength: number) =>
  ({ id, missing: false, unmounted: false, description: { ...model, supported: true, contextLength } }) as ModelEntry;
const [small, big] = [entry('small', 32_768), entry('big', 131_072)];
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
  expect(bestWay(full, { ...nothing, larger: fits, plan: { trim: offer, summary: offer } })).toBe('larger');
  expect(bestWay(full, { ...nothing, larger: tooLarge, plan: { trim: offer, summary: offer } })).toBe('trim');
  expect(bestWay(full, { ...nothing, plan: { trim: null, summary: offer } })).toBe('summary');
  expect(bestWay(full, nothing)).toBe('new-chat');
});

test('a message that no context holds is never sent to a new chat, which would ask again', () => {
  const paste = { used: 40, draft: 60_000, limit: 32_768 };
  expect(fitsAlone(paste)).toBe(false);
  expect(bestWay(paste, { ...nothing, searchable: true })).toBe('search');
  const other = otherModelFor(paste, small, [small, big], machine(13 * GB));
  expect(other).toMatchObject({ model: { id: 'big' }, size: 81_920 });
  expect(bestWay(paste, { ...nothing, other })).toBe('model');
  expect(bestWay(paste, nothing)).toBe('shorten');
  expect(bestWay({ ...paste, used: 0, draft: 100 }, nothing)).toBe('shorten');
});

test('an answer that goes on has no message to search, shorten or take elsewhere', () => {
  expect(bestWay(full, { ...nothing, resumes: true })).toBeNull();
});

test('only models that can answer, are here, hold it and fit this machine are offered instead', () => {
  const paste = { used: 0, draft: 60_000, limit: 32_768 };
  const offered = (...models: ModelEntry[]) => otherModelFor(paste, small, models, machine(13 * GB))?.model.id ?? null;
  expect(offered(small)).toBeNull();
  expect(offered({ ...big, missing: true })).toBeNull();
  expect(offered({ ...big, unmounted: true })).toBeNull();
  expect(offered({ ...big, description: { ...model, supported: true, encoder: true } })).toBeNull();
  expect(offered({ ...big, description: { ...model, supported: true, weightBytes: 20 * GB } })).toBeNull();
  const lighter = { ...big, id: 'lighter' as never, description: { ...model, supported: true, weightBytes: GB } };
  expect(offered(big, lighter)).toBe('lighter');
});

test('a smaller context is half of what was too much, or what is known to fit', () => {
  expect(smallerContext(32_768, null)).toBe(16_384);
  expect(smallerContext(24_000, null)).toBe(16_384);
  expect(smallerContext(32_768, 5000)).toBe(4864);
  expect(smallerContext(512, null)).toBeNull();
  expect(smallerContext(0, null)).toBeNull();
});

test('an engine that stays down offers less to do and another way to do it; one that comes back needs none', () => {
  expect(recoveryActions('engine-lost', 'restarting')).toEqual([]);
  expect(recoveryActions('engine-lost', 'stopped')).toContain('smaller-context');
  expect(recoveryActions('out-of-memory', 'ready')[0]).toBe('smaller-context');
});
