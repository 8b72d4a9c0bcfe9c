import { expect, test } from 'vitest';
import { addressOf, type View, viewOf } from '../../../renderer/shell/address.ts';

const views: View[] = [
  { kind: 'chat', chatId: null, source: null },
  { kind: 'chat', chatId: 'a/b?c#d' as never, source: null },
  { kind: 'chat', chatId: 'chat-1' as never, source: { messageId: 'm.1.2' as never, number: 12 } },
  { kind: 'documents', documentId: null },
  { kind: 'documents', documentId: 'document 1' as never },
  { kind: 'models' },
  { kind: 'performance' },
  { kind: 'settings', section: 'engine' },
];

test.each(views)('%j is the same behind its address', (view) => {
  expect(viewOf(addressOf(view))).toEqual(view);
});

test.each(['', '#', '#/', '#/nowhere', '#token=1', '#/%E0%A4%A'])('%j names nothing', (hash) => {
  expect(viewOf(hash)).toBeNull();
});

test('a section that does not exist is the first one, and half a source none', () => {
  expect(viewOf('#/settings/nothing')).toEqual({ kind: 'settings', section: 'appearance' });
  expect(viewOf('#/chat/c?source=m')).toEqual({ kind: 'chat', chatId: 'c', source: null });
});
