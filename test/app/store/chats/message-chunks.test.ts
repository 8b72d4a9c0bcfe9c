import { expect, test } from 'vitest';
import type { TurnId } from '../../../../app/protocol/index.ts';
import { addChunk, cutBack, joinChunks, samplesOf, unsettled } from '../../../../app/store/chats/message-chunks.ts';
import { getMessage, idsOf, updateMessage } from '../../../../app/store/chats/messages.ts';
import { addExchange, open } from '../support.ts';

const piece = (text: string, thinking: string, ids: number[]) => ({ text, thinking, ids, samples: [] });

test('pieces are read as one text before and after they are joined', async () => {
  const store = await open();
  const { answerId } = addExchange(store, 'q', '');
  addChunk(store.db, answerId, piece('', 'First I ', [1, 2]));
  addChunk(store.db, answerId, piece('The answer', 'think.', [3]));
  addChunk(store.db, answerId, piece(' is 4.', '', [4, 5]));
  const before = getMessage(store.db, answerId);
  expect([before.text, before.thinking]).toEqual(['The answer is 4.', 'First I think.']);
  joinChunks(store.db, answerId);
  expect(getMessage(store.db, answerId)).toEqual(before);
  expect(idsOf(store.db, answerId)).toEqual([1, 2, 3, 4, 5]);
  expect(store.db.all('SELECT * FROM message_chunks')).toEqual([]);
});

test('text that was taken back is gone for good', async () => {
  const store = await open();
  const { answerId } = addExchange(store, 'q', '');
  addChunk(store.db, answerId, piece('', 'Wait, wait, wait, wait', [7, 8, 7, 8]));
  cutBack(store.db, answerId, { kind: 'thinking', length: 5, tokens: 2 });
  addChunk(store.db, answerId, piece('Done.', '', [9]));
  const message = getMessage(store.db, answerId);
  expect([message.thinking, message.text]).toEqual(['Wait,', 'Done.']);
  expect(idsOf(store.db, answerId)).toEqual([7, 8, 9]);
});

test('unfinished messages are found after a restart, finished ones are not', async () => {
  const store = await open();
  const { answerId } = addExchange(store, 'q', 'a');
  expect(unsettled(store.db)).toEqual([]);
  updateMessage(store.db, answerId, { state: { status: 'running', turnId: 't' as TurnId } });
  expect(unsettled(store.db)).toEqual([answerId]);
});

test('samples keep their order', async () => {
  const store = await open();
  const { answerId } = addExchange(store, 'q', 'a');
  const sample = (atMs: number) => ({
    atMs,
    phase: 'answer' as const,
    tokensPerSecond: 9,
    tokens: 1,
    memoryBytes: null,
  });
  addChunk(store.db, answerId, { ...piece('', '', []), samples: [sample(100), sample(200)] });
  addChunk(store.db, answerId, { ...piece('', '', []), samples: [sample(300)] });
  expect(samplesOf(store.db, answerId).map((one) => one.atMs)).toEqual([100, 200, 300]);
});
