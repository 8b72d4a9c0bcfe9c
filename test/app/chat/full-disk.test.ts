import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Core } from '../../../app/core/core.ts';
import type { Chat, Client, EventPayload, Message, MessageId, TurnId } from '../../../app/protocol/index.ts';
import { messagesOf } from '../../../app/store/chats/messages.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { connect, isEnd, newFolder, next } from '../../support/core/core.ts';
import { startScripted } from '../../support/core/scripted-core.ts';
import { CIRCLING, scriptedEngine } from '../../support/core/scripted-engine.ts';
import { breakDisk } from '../../support/faulty-disk.ts';
import { collectUncaught } from '../../support/full-disk.ts';
import { soaking } from '../../support/soak.ts';

//  The disk is full at the n-th write of a conversation with everything that is stored of one. Nothing may be thrown
//  where nobody catches it, no chat may be busy for ever, every turn has one end, and what the pages were told is on the disk,
//  or they were told that it is not.

/** Of two hundred conversations as many at once: they mostly wait. */
const AT_ONCE = 40;
const unhandled = collectUncaught();

const says = ({ priority }: { priority: string }) =>
  priority === 'title' ? 'Lantern in the harbour' : 'The lantern stands in the harbour, and the ledger lies beside it.';

type Told = {
  ends: Map<TurnId, number>;
  messages: Map<MessageId, Message>;
  chats: Map<string, Chat>;
  notices: EventPayload<'notice'>['code'][];
};

function follow(client: Client): Told {
  const told: Told = { ends: new Map(), messages: new Map(), chats: new Map(), notices: [] };
  client.on('turn', ({ turnId, event }) => {
    const before = told.ends.get(turnId) ?? 0;
    told.ends.set(turnId, before + Number(isEnd(event)));
  });
  client.on('message.changed', (message) => told.messages.set(message.id, message));
  client.on('message.deleted', ({ messageId }) => told.messages.delete(messageId));
  client.on('chat.changed', (chat) => told.chats.set(chat.id, chat));
  client.on('notice', ({ code }) => told.notices.push(code));
  return told;
}

const start = startScripted;

/** Everything a person may do in a chat. What is refused is refused with `disk-full`, and the rest goes on. */
async function converse(client: Client, told: Told) {
  const refusals: unknown[] = [];
  const tried = async <T>(work: Promise<T>): Promise<T | null> => {
    try {
      return await work;
    } catch (error) {
      refusals.push(error);
      return null;
    }
  };
  /** Nothing is being written, as far as the page knows. */
  const atRest = () =>
    vi.waitFor(
      () => {
        const busy = [...told.messages.values()].filter(({ state }) => state.status === 'running');
        expect(busy.map(({ text, state }) => ({ text, state }))).toEqual([]);
      },
      { timeout: 60_000, interval: 10 },
    );
  const chat = await tried(client.call('chats.create', {}));
  if (!chat) return refusals;
  const chatId = chat.id;
  await tried(client.call('chats.update', { chatId, draft: 'half a sen' }));
  const first = await tried(client.call('turns.send', { chatId, text: 'Where is the lantern?' }));
  await tried(client.call('turns.send', { chatId, text: 'And the ledger?' }));
  await tried(client.call('settings.set', { autoTitle: true }));
  await atRest();
  if (first) await tried(client.call('turns.regenerate', { messageId: first.messageId }));
  await atRest();
  if (first?.userMessageId)
    await tried(client.call('turns.editAndResend', { messageId: first.userMessageId, text: 'Where?' }));
  await atRest();
  if (first) await tried(client.call('turns.editAnswer', { messageId: first.messageId, text: 'In the harbour.' }));
  const { loopGuard } = await client.call('settings.get');
  await tried(client.call('settings.set', { loopGuard: { ...loopGuard, waitSeconds: 0 } }));
  const paused = next(client, 'turn', ({ event }) => event.type === 'paused' || isEnd(event));
  const circling = await tried(client.call('turns.send', { chatId, text: `Go ${CIRCLING}.` }));
  if (circling?.turnId) {
    await paused;
    await tried(client.call('turns.decide', { turnId: circling.turnId, choice: 'loop-guard-off' }));
  }
  await atRest();
  if (first) await tried(client.call('context.summarise', { messageId: first.messageId }));
  if (first) await tried(client.call('context.exclude', { messageId: first.messageId, summary: 'A lantern.' }));
  const benchmarked = next(client, 'benchmark', ({ status }) => status !== 'running');
  if (await tried(client.call('benchmark.start', { modelIds: ['starter' as never] }).then(() => true)))
    await benchmarked;
  await new Promise((done) => setTimeout(done, 900)); // for the title
  await tried(client.call('chats.delete', { chatId }));
  await tried(client.call('chats.restore', { chatId }));
  return refusals;
}

type Fault = { at: number; times: number };

async function run(fault: Fault): Promise<number> {
  const dataFolder = newFolder();
  const path = join(dataFolder, 'longhand.db');
  const { startEngine, living } = scriptedEngine(says);
  const disk = breakDisk(path, fault);
  const where = `write ${fault.at}, ${fault.times} times`;
  let host: Core;
  try {
    host = await start(dataFolder, startEngine);
  } catch (error) {
    expect(error, where).toMatchObject({ code: 'disk-full' });
    expect(living(), `${where}: engines`).toBe(0);
    disk.lift();
    // Nothing holds the folder.
    host = await start(dataFolder, startEngine);
    await host.close();
    return disk.seen();
  }
  const client = connect(host);
  const told = follow(client);
  const refusals = await converse(client, told);
  for (const refusal of refusals)
    expect(refusal, where).toMatchObject({ code: expect.stringMatching(/disk-full|not-found|conflict/) });
  const atFault = [...told.notices];
  disk.lift();
  const seen = disk.seen();
  // The writers try again every second.
  if (atFault.length > 0) await new Promise((done) => setTimeout(done, 1200));
  for (const [turnId, ends] of told.ends) expect(ends, `${where}: ends of ${turnId}`).toBe(1);
  await host.close();
  expect(living(), `${where}: engines`).toBe(0);

  const db = openDatabase(path);
  const chats = [...told.chats.keys()];
  const stored = new Map(chats.flatMap((chatId) => messagesOf(db, chatId as never)).map((one) => [one.id, one]));
  db.close();
  for (const message of stored.values()) {
    expect(['done', 'failed', 'queued'], `${where}: ${message.role} ${message.text}`).toContain(message.state.status);
    expect(told.messages.get(message.id), `${where}: the page knows ${message.role} ${message.text}`).toBeDefined();
  }
  for (const message of told.messages.values()) {
    const there = stored.get(message.id);
    expect(there, `${where}: on the disk is ${message.role} ${message.text}`).toMatchObject({
      text: message.text,
      state: message.state,
    });
  }
  return seen;
}

async function every(faults: readonly Fault[]) {
  const left = [...faults];
  const worker = async () => {
    for (let fault = left.shift(); fault; fault = left.shift()) await run(fault);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(unhandled).toEqual([]);
}

test('a conversation on a sound disk writes what the faults below count', { timeout: 60_000 }, async () => {
  const writes = await run({ at: Number.POSITIVE_INFINITY, times: 0 });
  console.log(`writes: ${writes}`);
  expect(writes).toBeGreaterThan(60);
});

/** At every second write one fails, from every sixth on all; in soaks at each, and from every third on. */
const STEP = soaking ? 1 : 2;

test('one write fails', { timeout: 300_000 }, async () => {
  const writes = await run({ at: Number.POSITIVE_INFINITY, times: 0 });
  await every(Array.from({ length: Math.ceil(writes / STEP) }, (_, at) => ({ at: STEP * at + 1, times: 1 })));
});

test('from some write on all fail, until there is room', { timeout: 300_000 }, async () => {
  const writes = await run({ at: Number.POSITIVE_INFINITY, times: 0 });
  const step = 3 * STEP;
  await every(
    Array.from({ length: Math.ceil(writes / step) }, (_, at) => ({
      at: step * at + 1,
      times: Number.POSITIVE_INFINITY,
    })),
  );
});
