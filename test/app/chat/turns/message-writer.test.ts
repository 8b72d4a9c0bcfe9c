import { expect, onTestFinished, test } from 'vitest';
import { createMessageWriter } from '../../../../app/chat/turns/message-writer.ts';
import type { LonghandError, MessageId } from '../../../../app/protocol/index.ts';
import { getMessage, idsOf } from '../../../../app/store/chats/messages.ts';
import { addExchange, open } from '../../store/support.ts';

async function write() {
  const { db, ...store } = await open();
  const { answerId } = addExchange({ db, ...store }, 'q', '');
  const troubles: (string | null)[] = [];
  let done = 0;
  const writer = createMessageWriter({
    db,
    messageId: answerId,
    flushMs: 20,
    retryMs: 30,
    onTrouble: (trouble: LonghandError | null) => troubles.push(trouble?.code ?? null),
    onDone: () => done++,
  });
  onTestFinished(() => void writer.flush());
  /** The file may not grow any more, as on a disk without room. */
  const fill = (full: boolean) => {
    const pages = Number(db.get('PRAGMA page_count')?.page_count);
    db.script(`PRAGMA max_page_count = ${full ? pages : 1_000_000}`);
  };
  return { db, answerId: answerId as MessageId, writer, troubles, done: () => done, fill };
}

const until = async (fits: () => boolean) => {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('what comes in is on disk soon, without being asked', async () => {
  const { db, answerId, writer } = await write();
  writer.text('answer', 'Hello', [1]);
  expect(getMessage(db, answerId).text).toBe('');
  expect(writer.overlay(getMessage(db, answerId)).text).toBe('Hello');
  await until(() => getMessage(db, answerId).text === 'Hello');
  expect(writer.overlay(getMessage(db, answerId)).text).toBe('Hello');
});

test('how an answer ended is on disk at once, with all that was written before', async () => {
  const { db, answerId, writer, done } = await write();
  writer.text('answer', 'Hello', [1]);
  writer.set({ state: { status: 'done', reason: 'stop' } }, 'end');
  expect(getMessage(db, answerId)).toMatchObject({ text: 'Hello', state: { status: 'done', reason: 'stop' } });
  expect(done()).toBe(1);
});

test('what is taken back is gone from the disk at once: no crash brings it back', async () => {
  const { db, answerId, writer } = await write();
  writer.text('answer', 'Hello again and again', [1, 2, 3, 4]);
  writer.flush();
  writer.cut('answer', 5, 1);
  expect(getMessage(db, answerId).text).toBe('Hello');
  expect(idsOf(db, answerId)).toEqual([1]);
});

test('a full disk is said once; the text stays readable, and all of it is written when there is room', async () => {
  const { db, answerId, writer, troubles, done, fill } = await write();
  writer.text('thinking', 'Before. ', [1]);
  writer.flush();
  fill(true);
  const big = 'x'.repeat(20_000);
  writer.text('answer', big, [2, 3]);
  writer.flush();
  writer.cut('thinking', 3, 3);
  writer.text('answer', ' end', [4]);
  writer.set({ state: { status: 'done', reason: 'stop' } }, 'end');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(troubles).toEqual(['disk-full']);
  expect(done()).toBe(0);
  const shown = writer.overlay(getMessage(db, answerId));
  expect([shown.text, shown.thinking, shown.state]).toEqual([`${big} end`, 'Bef', { status: 'done', reason: 'stop' }]);

  fill(false);
  await until(() => done() === 1);
  expect(troubles).toEqual(['disk-full', null]);
  expect(getMessage(db, answerId)).toEqual(shown);
  expect(idsOf(db, answerId)).toEqual([1, 2, 3, 4]);
});
