// Calls of tools as they stand with an answer.
import { expect, test } from 'vitest';
import type { MessageId, ToolUse } from '../../../../app/protocol/index.ts';
import { addResultPicture } from '../../../../app/store/chats/attachments.ts';
import { deleteMessage, getMessage, messagesOf } from '../../../../app/store/chats/messages.ts';
import {
  addToolUses,
  INTERRUPTED,
  repeatFrom,
  settleToolUses,
  tokensAtSteps,
  toolUsesOf,
  updateToolUse,
} from '../../../../app/store/chats/tool-uses.ts';
import { addExchange, inMemory } from '../support.ts';

const call = (name: string, step: number, textAt = 0, thinkingAt = 0) => ({
  name,
  arguments: '{}',
  step,
  textAt,
  thinkingAt,
});
const done = { state: { status: 'done', ms: 5 }, result: '4' } as Pick<ToolUse, 'state' | 'result'>;

function answered() {
  const db = inMemory();
  const { chatId, answerId } = addExchange({ db }, 'What is 2 + 2?', 'It is 4.');
  const [sum, page] = addToolUses(db, answerId, [call('sum', 0, 3, 7), call('page', 0, 3, 7)], 11) as [
    ToolUse,
    ToolUse,
  ];
  const [last] = addToolUses(db, answerId, [call('last', 1, 5, 7)], 19) as [ToolUse];
  const picture = (use: ToolUse, name: string) =>
    addResultPicture(
      db,
      { useId: use.id, messageId: answerId },
      { name, bytes: 1, stored: name, width: 2, height: 1 },
      1,
    );
  for (const name of ['b.png', 'a.png']) picture(page, name);
  return { db, chatId, answerId, sum, page, last, picture };
}
const shown = (uses: readonly ToolUse[]) =>
  uses.map(({ name, state, result, pictures }) => [name, state.status, result, pictures.map((one) => one.name).join()]);

test('calls are shown in their order, each with its state, its result and the pictures that came from it', () => {
  const { db, chatId, answerId, sum, page } = answered();
  expect(updateToolUse(db, sum, done)).toMatchObject({ id: sum.id, result: '4', pictures: [] });
  expect(updateToolUse(db, page, done).pictures.map(({ name }) => name)).toEqual(['b.png', 'a.png']);
  const expected = [
    ['sum', 'done', '4', ''],
    ['page', 'done', '4', 'b.png,a.png'],
    ['last', 'waiting', null, ''],
  ];
  expect(shown(toolUsesOf(db, answerId))).toEqual(expected);
  expect(messagesOf(db, chatId).map(({ toolUses }) => shown(toolUses))).toEqual([[], expected]);
  expect(getMessage(db, answerId).attachments).toEqual([]);
  expect(toolUsesOf(db, answerId).map(({ step, textAt, thinkingAt }) => [step, textAt, thinkingAt])).toEqual([
    [0, 3, 7],
    [0, 3, 7],
    [1, 5, 7],
  ]);
  expect([...tokensAtSteps(db, answerId)]).toEqual([
    [0, 11],
    [1, 19],
  ]);
  // As no call can stand before the beginning, a damaged row counts as one at the beginning.
  db.run('UPDATE tool_uses SET step = -1, text_at = -2, thinking_at = -3');
  expect(toolUsesOf(db, answerId)[0]).toMatchObject({ step: 0, textAt: 0, thinkingAt: 0 });
});

test('the result of a call whose message was deleted has nowhere to go', () => {
  const { db, answerId, sum } = answered();
  deleteMessage(db, answerId);
  expect(() => updateToolUse(db, sum, done)).toThrow(
    expect.objectContaining({ code: 'not-found', message: expect.stringContaining(sum.id) }),
  );
  expect(toolUsesOf(db, answerId)).toEqual([]);
});

test('a call that is made again has what came before it, and waits; nothing after it is repeated', () => {
  const { db, chatId, answerId, sum, page, last, picture } = answered();
  for (const use of [sum, page, last]) updateToolUse(db, use, done);
  picture(last, 'late.png');
  const copyTo = () => addExchange({ db }, 'Once more', '').answerId;
  const first = copyTo();
  expect(repeatFrom(db, last, answerId, first, 1)).toBe(19);
  expect(shown(toolUsesOf(db, first))).toEqual([
    ['sum', 'done', '4', ''],
    ['page', 'done', '4', 'b.png,a.png'],
    ['last', 'waiting', null, ''],
  ]);
  expect([...tokensAtSteps(db, first)]).toEqual([
    [0, 11],
    [1, 19],
  ]);
  const second = copyTo();
  expect(repeatFrom(db, sum, answerId, second, 1)).toBe(11);
  expect(shown(toolUsesOf(db, second))).toEqual([
    ['sum', 'waiting', null, ''],
    ['page', 'done', '4', 'b.png,a.png'],
  ]);
  expect(shown(messagesOf(db, chatId).at(-1)?.toolUses ?? [])).toHaveLength(3);
});

test('what was running when the app ended is interrupted, what waited for consent waits again, and what is done stays', () => {
  const { db, answerId, sum, page, last } = answered();
  const set = (use: ToolUse, status: string) =>
    updateToolUse(db, use, { state: { status } as ToolUse['state'], result: null });
  set(sum, 'running');
  db.run(`UPDATE tool_uses SET state = '{"status":"asking","destroys":false}' WHERE id = ?`, page.id);
  updateToolUse(db, last, done);
  settleToolUses(db);
  expect(shown(toolUsesOf(db, answerId)).map(([name, status, result]) => [name, status, result])).toEqual([
    ['sum', 'interrupted', INTERRUPTED],
    ['page', 'waiting', null],
    ['last', 'done', '4'],
  ]);
  expect(toolUsesOf(db, 'nowhere' as MessageId)).toEqual([]);
});
