import { expect, test, vi } from 'vitest';
import type { ChatId, EngineStatus, ModelEntry } from '../../../../app/protocol/index.ts';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
vi.stubGlobal('document', { getElementById: () => null, documentElement: {} });
const { limitOf, shownMeasure, subjectOf } = await import('../../../../renderer/chat/composer/use-context-usage.ts');

const [first, second] = ['first', 'second'] as ChatId[] as [ChatId, ChatId];
const found = { used: 900, draft: 20, limit: 1024 };

test('what was counted for one chat is not shown in the next, nor what another model counted', () => {
  const measured = { of: subjectOf({ chatId: first, modelId: 'otter' }), found };
  expect(shownMeasure(measured, { chatId: first, modelId: 'otter', limit: 2048 })).toEqual({ ...found, limit: 2048 });
  expect(shownMeasure(measured, { chatId: second, modelId: 'otter', limit: 2048 })).toBeNull();
  expect(shownMeasure(measured, { chatId: first, modelId: 'heron', limit: 2048 })).toBeNull();
  expect(shownMeasure(measured, { chatId: null, modelId: 'otter', limit: 2048 })).toEqual({
    used: 0,
    draft: 0,
    limit: 2048,
  });
  expect(shownMeasure(null, { chatId: first, modelId: 'otter', limit: null })).toBeNull();
});

test('the limit is that of the chosen model, whichever is in memory', () => {
  const model = {
    id: 'otter',
    description: { contextLength: 8192 },
    settings: { contextLength: null },
  } as unknown as ModelEntry;
  const ready = (modelId: string): EngineStatus =>
    ({ phase: 'ready', modelId, contextLength: 512, backEnd: 'cpu', memoryBytes: 1 }) as unknown as EngineStatus;
  expect(limitOf(model, null, ready('otter'))).toBe(512);
  expect(limitOf(model, null, ready('heron'))).toBe(8192);
  expect(limitOf(model, 4096, ready('heron'))).toBe(4096);
  expect(limitOf(null, null, ready('heron'))).toBeNull();
});
