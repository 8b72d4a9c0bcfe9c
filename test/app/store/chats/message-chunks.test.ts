import { expect, test } from 'vitest';
import type { TurnId } from '../../../../app/protocol/index.ts';
import { addChunk, cutBack, joinChunks, samplesOf, unsettled } from '../../../../app/store/chats/message-chunks.ts';
import { copyBegin, deleteMessage, getMessage, idsOf, updateMessage } from '../../../../app/store/chats/messages.ts';
import { addExchange, inMemory, open } from '../support.ts';

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

test('of an answer that is cut back the thinking stays; tokens without text are kept, and pieces without either are none', () => {
  const db = inMemory();
  const { answerId } = addExchange({ db }, 'q', '');
  addChunk(db, answerId, piece('', 'Two and two.', [1, 2]));
  addChunk(db, answerId, piece('Four, four, four', '', [3, 4, 5]));
  cutBack(db, answerId, { kind: 'answer', length: 5, tokens: 3 });
  addChunk(db, answerId, piece('', '', [6]));
  addChunk(db, answerId, piece('', '', []));
  addChunk(db, answerId, piece(' done', '', []));
  expect(getMessage(db, answerId)).toMatchObject({ text: 'Four, done', thinking: 'Two and two.' });
  expect(idsOf(db, answerId)).toEqual([1, 2, 3, 6]);
  expect(db.all('SELECT seq FROM message_chunks')).toHaveLength(2);
  // Its turn may end after the user deleted it.
  deleteMessage(db, answerId);
  expect(() => joinChunks(db, answerId)).not.toThrow();
  expect(() => cutBack(db, answerId, { kind: 'answer', length: 1, tokens: 1 })).not.toThrow();
});

test('a sample of speed that is damaged is left out', () => {
  const db = inMemory();
  const { answerId } = addExchange({ db }, 'q', 'a');
  const sample = { atMs: 1, phase: 'answer' as const, tokensPerSecond: 9, tokens: 1, memoryBytes: null };
  addChunk(db, answerId, { ...piece('', '', []), samples: [sample, { ...sample, atMs: 2 }] });
  db.run(`UPDATE speed_samples SET sample = '{' WHERE seq = 1`);
  expect(samplesOf(db, answerId)).toEqual([{ ...sample, atMs: 2 }]);
});

test('an answer that goes on from an earlier one begins with as much of it as is kept, of the model that wrote it', () => {
  const db = inMemory();
  const { answerId } = addExchange({ db }, 'q', '');
  const grounding = { found: true, by: 'words', question: 'q', sources: [], support: [], quote: null } as never;
  addChunk(db, answerId, piece('', 'Let me think.', [1, 2]));
  addChunk(db, answerId, piece('It is four.', '', [3, 4, 5]));
  joinChunks(db, answerId);
  updateMessage(db, answerId, { modelName: 'Starter', grounding });
  const begun = (text: number, thinking: number, tokens: number) => {
    const { answerId: to } = addExchange({ db }, 'q', '');
    copyBegin(db, answerId, to, { text, thinking, tokens });
    return { ...getMessage(db, to), ids: idsOf(db, to) };
  };
  expect(begun(5, 6, 3)).toMatchObject({
    text: 'It is',
    thinking: 'Let me',
    ids: [1, 2, 3],
    modelName: 'Starter',
    grounding,
  });
  expect(begun(0, 0, 0)).toMatchObject({ text: '', thinking: '', ids: null });
  updateMessage(db, answerId, { grounding: null });
  expect(begun(20, 20, 9)).toMatchObject({
    text: 'It is four.',
    thinking: 'Let me think.',
    ids: [1, 2, 3, 4, 5],
    grounding: null,
  });
});
