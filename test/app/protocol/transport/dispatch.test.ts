import { expect, test } from 'vitest';
import { LonghandError } from '../../../../app/protocol/index.ts';
import { dispatch, type Handlers } from '../../../../app/protocol/transport/dispatch.ts';

//  What one frame of a page becomes: an answer, a failure with a code, or nothing.

const asked: [unknown, boolean][] = [];
const handlers = {
  'chats.get': (input: unknown, signal?: AbortSignal) => {
    asked.push([input, signal?.aborted ?? true]);
    return 'the chat';
  },
  'chats.list': () => {
    throw new LonghandError('disk-full', '[test] no room');
  },
} as unknown as Handlers;

test('a call that is asked rightly is answered, under its own number', async () => {
  const frame = { id: 7, call: 'chats.get', input: { chatId: 'one' } };
  expect(await dispatch(handlers, frame)).toEqual({ id: 7, value: 'the chat' });
  expect(asked).toEqual([[{ chatId: 'one' }, false]]);
  expect(await dispatch(handlers, { id: 0, call: 'chats.list', input: {} })).toMatchObject({
    id: 0,
    failure: { code: 'disk-full', message: '[test] no room' },
  });
});

test.each(['chats.none', '', 'toString', 'constructor', '__proto__', 'hasOwnProperty'])(
  '%j is no call, and that is said',
  async (call) => {
    expect(await dispatch(handlers, { id: 1, call, input: {} })).toMatchObject({
      id: 1,
      failure: { code: 'bad-request', message: `[protocol] no call "${call}"` },
    });
  },
);

test('what is asked wrongly says where; what is no frame is left alone', async () => {
  expect(await dispatch(handlers, { id: 2, call: 'chats.get', input: { chatId: 5 } })).toMatchObject({
    failure: { code: 'bad-request', message: expect.stringMatching(/^\[chats\.get\] "chatId": /) },
  });
  const none = [null, 7, 'x', [], {}, { id: -1, call: 'chats.get' }, { id: 1.5, call: 'chats.get' }, { id: 1 }];
  for (const frame of [...none, { id: 1, call: 'x'.repeat(101) }]) expect(await dispatch(handlers, frame)).toBeNull();
  expect(await dispatch(handlers, { id: 1, call: 'x'.repeat(100) })).toMatchObject({
    failure: { code: 'bad-request' },
  });
});
