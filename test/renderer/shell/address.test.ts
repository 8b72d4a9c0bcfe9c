import { expect, test } from 'vitest';
import { addressOf, type View, viewOf } from '../../../renderer/shell/address.ts';

const views: View[] = [
  { at: 'chat', chatId: null, source: null },
  { at: 'chat', chatId: 'a/b?c#d' as never, source: null },
  { at: 'chat', chatId: 'chat-1' as never, source: { messageId: 'm.1.2' as never, number: 12 } },
  { at: 'documents', documentId: null },
  { at: 'documents', documentId: 'document 1' as never },
  { at: 'models' },
  { at: 'performance' },
  { at: 'settings', section: 'engine' },
];

test.each(views)('%j is the same behind its address', (view) => {
  expect(viewOf(addressOf(view))).toEqual(view);
});

test.each(['', '#', '#/', '#/nowhere', '#token=1', '#/%E0%A4%A'])('%j names nothing', (hash) => {
  expect(viewOf(hash)).toBeNull();
});

test('a section that does not exist is the first one, and half a source none', () => {
  expect(viewOf('#/settings/nothing')).toEqual({ at: 'settings', section: 'appearance' });
  expect(viewOf('#/chat/c?source=m')).toEqual({ at: 'chat', chatId: 'c', source: null });
});
