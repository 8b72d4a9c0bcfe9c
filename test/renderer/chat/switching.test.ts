import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ChatId,
  type ClientFrame,
  type CoreFrame,
  type Emit,
  type MessageId,
  pipePair,
  type TurnId,
} from '../../../app/protocol/index.ts';
import { createFakeCore } from '../../support/fakes/core.ts';
import { createWorld, newChat, newMessage, starter, type World } from '../../support/fakes/world.ts';

//  While the core answers, somebody opens another chat: what was asked for happens in the chat that it was asked for in.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
vi.stubGlobal('requestAnimationFrame', (run: () => void) => setTimeout(run, 0));
vi.stubGlobal('document', { getElementById: () => null, documentElement: {} });
const { attach } = await import('../../../renderer/bridge.ts');
const { listenToChats, useChat } = await import('../../../renderer/stores/chat/store.ts');
const { useEngine } = await import('../../../renderer/stores/engine.ts');
const { takeToNewChat } = await import('../../../renderer/chat/overflow/overflow-actions.ts');
const stopListening = listenToChats();
afterAll(stopListening);

let world: World;
let held: { call: string; release: () => void }[] = [];
let holding = new Set<string>();
/** Calls that the core refuses, and with what. */
let failing = new Map<string, 'context-full' | 'disk-full'>();
/** Whether events are lost on their way to the page. */
let deaf = false;
/** How often a chat was saved. */
let saved = 0;
let tell: Emit = () => {};
const [first, second] = [newChat({ title: 'first' }), newChat({ title: 'second' })];
const question = newMessage(first.id, 'user', { text: 'Why?' });
const answer = newMessage(first.id, 'assistant', { text: 'So.', parentId: question.id });

beforeEach(async () => {
  world = createWorld({ measure: { used: 900, draft: 300, limit: 1024 } });
  world.chats.set(first.id, { ...first, leafId: answer.id });
  world.chats.set(second.id, second);
  world.messages.set(question.id, question);
  world.messages.set(answer.id, answer);
  held = [];
  holding = new Set();
  failing = new Map();
  deaf = false;
  const core = createFakeCore(world);
  tell = core.emit;
  const [page, other] = pipePair<ClientFrame, CoreFrame>();
  core.switchboard.add(other);
  let deliver: (frame: CoreFrame) => void = () => {};
  page.onMessage((frame) => {
    if (!(deaf && 'event' in frame)) deliver(frame);
  });
  attach({
    ...page,
    onMessage: (listener) => {
      deliver = listener;
    },
    send: (frame) => {
      if ('cancel' in frame) return;
      saved += Number(frame.call === 'chats.update');
      const code = failing.get(frame.call);
      const go = () => (code ? deliver({ id: frame.id, failure: { code, message: 'refused' } }) : page.send(frame));
      if (holding.has(frame.call)) held.push({ call: frame.call, release: go });
      else go();
    },
  });
  useChat.setState({ drafts: { new: '' }, attachments: {}, refused: {}, chosen: null });
  await chat().load();
  await chat().choose(first.id);
});

const chat = () => useChat.getState();

describe('a chat that cannot be read', () => {
  test('says why on its page, and is there once it can be read', async () => {
    failing.set('chats.get', 'disk-full');
    await chat().choose(second.id);
    expect(chat().open).toBeNull();
    expect(chat().unopened).toMatchObject({ code: 'disk-full' });
    failing.clear();
    await chat().choose(second.id);
    expect(chat().open?.chat.id).toBe(second.id);
    expect(chat().unopened).toBeNull();
  });

  test('says nothing on the page of another one, opened meanwhile', async () => {
    await chat().choose(null);
    failing.set('chats.get', 'disk-full');
    holding.add('chats.get');
    const done = chat().choose(first.id);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    failing.clear();
    holding.clear();
    await chat().choose(second.id);
    for (const one of held.splice(0)) one.release();
    await done;
    expect(chat().unopened).toBeNull();
    expect(chat().open?.chat.id).toBe(second.id);
  });

  test('stays as it is where it is on screen already, and what is wrong is told to whoever opens it again', async () => {
    failing.set('chats.get', 'disk-full');
    await expect(chat().choose(first.id)).rejects.toMatchObject({ code: 'disk-full' });
    expect(chat().open?.messages.get(answer.id)?.text).toBe('So.');
    expect(chat().unopened).toBeNull();
  });

  test('keeps no other from the list when a page begins with it', async () => {
    await chat().choose(null);
    failing.set('chats.get', 'disk-full');
    useChat.setState({ chosen: second.id, chats: [] });
    await chat().load();
    expect(chat().chats).toHaveLength(2);
    expect(chat().unopened).toMatchObject({ code: 'disk-full' });
  });
});

/** Starts something whose call is kept back, opens the other chat, and lets the call go. */
async function switchDuring(call: string, run: () => Promise<unknown>): Promise<void> {
  holding.add(call);
  const done = run();
  await vi.waitFor(() => expect(held.some((one) => one.call === call)).toBe(true));
  await chat().choose(second.id);
  holding.delete(call);
  for (const one of held.splice(0)) one.release();
  await done;
}

const queue = (): MessageId => {
  const waiting = newMessage(first.id, 'user', { text: 'later', state: { status: 'queued', place: 0 } });
  world.messages.set(waiting.id, waiting);
  return waiting.id;
};

describe('another chat is opened while the core answers', () => {
  test('a message that is taken back lands in the composer of its own chat, and is stored there', async () => {
    const id = queue();
    await chat().choose(first.id);
    await switchDuring('turns.editQueued', () => chat().takeBack(id));
    expect(chat().drafts[second.id] ?? '').toBe('');
    expect(chat().drafts[first.id]).toBe('later');
    expect(world.chats.get(first.id)?.draft).toBe('later');
  });

  test('the question about a full context does not open over the other chat; the first one says why', async () => {
    failing.set('turns.send', 'context-full');
    chat().setDraft('too long');
    await switchDuring('turns.send', () => chat().send(false));
    expect(chat().overlay.kind).toBe('none');
    expect(chat().refused[second.id] ?? null).toBeNull();
    expect(chat().refused[first.id]?.code).toBe('context-full');
    expect(chat().drafts[first.id]).toBe('too long');
  });

  test('making room for an answer is asked in its own chat only', async () => {
    await switchDuring('context.measure', () => chat().makeRoom(answer.id));
    expect(chat().overlay.kind).toBe('none');
  });

  test.each([
    ['retry', 'turns.regenerate'],
    ['resume', 'turns.continue'],
  ] as const)('%s gives no false error, and leaves the other chat alone', async (what, call) => {
    await switchDuring(call, () => chat()[what](answer.id));
    expect(Object.values(chat().refused).filter(Boolean)).toEqual([]);
    expect(chat().open?.chat.id).toBe(second.id);
  });

  test('an edit that is sent does not close the editor of another message', async () => {
    await switchDuring('turns.editAndResend', async () => {
      const sent = chat().edit(question.id, 'Why not?');
      await Promise.resolve();
      return sent.then(() => undefined);
    });
    expect(Object.values(chat().refused).filter(Boolean)).toEqual([]);
    chat().setEditing(answer.id);
    await chat().edit(question.id, 'Why then?');
    expect(chat().editing).toBe(answer.id);
  });

  test('a refusal is said where it was asked for', async () => {
    failing.set('turns.regenerate', 'disk-full');
    await switchDuring('turns.regenerate', () => chat().retry(answer.id));
    expect(chat().refused[first.id]?.code).toBe('disk-full');
    expect(chat().refused[second.id] ?? null).toBeNull();
  });

  test('a new chat that is made for a message takes nobody out of the chat opened meanwhile', async () => {
    await chat().choose(null);
    chat().setDraft('hello');
    await switchDuring('chats.create', () => chat().send(false));
    expect(chat().chosen).toBe(second.id);
    expect(chat().open?.chat.id).toBe(second.id);
    const made = [...world.chats.values()].find(({ id }) => id !== first.id && id !== second.id);
    expect([...world.messages.values()].find(({ chatId }) => chatId === made?.id)?.text).toBe('hello');
    expect(chat().drafts.new).toBe('');
  });

  test('what goes on after room was made is sent in the chat it waited in', async () => {
    chat().setDraft('the long one');
    await chat().choose(second.id);
    await chat().send(false, first.id);
    const sent = [...world.messages.values()].filter(({ text }) => text === 'the long one');
    expect(sent.map(({ chatId }) => chatId)).toEqual([first.id]);
    expect(chat().chosen).toBe(second.id);
  });
});

test('a message for a new chat is sent in it, and it is the one on the page', async () => {
  await chat().choose(null);
  chat().setDraft('hello');
  await chat().send(false);
  const open = chat().open;
  expect(chat().chosen).toBe(open?.chat.id);
  expect([...(open?.messages.values() ?? [])].map(({ text }) => text)).toContain('hello');
  expect(chat().chats.map(({ id }) => id)).toContain(open?.chat.id);
  expect([...world.chats.keys()]).toHaveLength(3);
});

test('without a chat on the page nothing is asked anew, and that is said', async () => {
  await chat().choose(null);
  const known = world.messages.size;
  await chat().retry(answer.id);
  expect(chat().refused.new?.code).toBe('conflict');
  expect(world.messages.size).toBe(known);
});

test('a chat in which nothing was typed is not saved when it is left', async () => {
  useChat.setState({ drafts: { new: '' } });
  saved = 0;
  await chat().choose(second.id);
  await chat().choose(first.id);
  expect(saved).toBe(0);
});

test('a draft that cannot be saved is said in its chat, and stays in its field', async () => {
  chat().setDraft('half a sentence');
  failing.set('chats.update', 'disk-full');
  await chat().choose(second.id);
  expect(chat().refused[first.id]?.code).toBe('disk-full');
  expect(chat().refused[second.id] ?? null).toBeNull();
  failing.clear();
  await chat().choose(first.id);
  expect(chat().drafts[first.id]).toBe('half a sentence');
});

test('a new chat has the model that answers now, and keeps it', async () => {
  useEngine.setState({ models: [starter] });
  await chat().choose(null);
  const made = await chat().ensureChat();
  expect(world.chats.get(made)?.modelId).toBe(starter.id);
  useEngine.setState({ models: [] });
});

describe('what was typed for a new chat', () => {
  const typed = async (text: string) => {
    await chat().choose(null);
    chat().setDraft(text);
  };

  test('stays there when a message is taken to a new chat', async () => {
    await typed('not sent yet');
    await chat().choose(first.id);
    chat().setDraft('too long for this chat');
    await takeToNewChat(first.id);
    expect(chat().drafts.new).toBe('not sent yet');
    expect(chat().drafts[first.id]).toBe('');
    expect(world.chats.get(first.id)?.draft).toBe('');
    const made = chat().chosen as ChatId;
    expect(made).not.toBe(first.id);
    expect(chat().drafts[made]).toBe('too long for this chat');
  });

  test('stays there when the palette asks something in a new chat', async () => {
    await typed('not sent yet');
    await chat().choose(first.id);
    await chat().beginWith('what the palette asks');
    expect(chat().drafts.new).toBe('not sent yet');
    expect(chat().drafts[chat().chosen as ChatId]).toBe('what the palette asks');
  });

  test('where nothing was typed, no empty chat is made for it', async () => {
    await chat().beginWith('a question');
    expect(chat().chosen).toBeNull();
    expect(chat().drafts.new).toBe('a question');
    expect(world.chats.size).toBe(2);
  });

  test('a message that cannot be taken to a new chat stays where it is', async () => {
    await typed('not sent yet');
    await chat().choose(first.id);
    chat().setDraft('too long for this chat');
    failing.set('chats.create', 'disk-full');
    await expect(takeToNewChat(first.id)).rejects.toMatchObject({ code: 'disk-full' });
    expect(chat().drafts[first.id]).toBe('too long for this chat');
  });
});

test('a chat has its new title in the list at once, open or not', async () => {
  await chat().choose(first.id);
  await chat().update({ title: 'Renamed' });
  await chat().update({ title: 'Also renamed' }, second.id);
  expect(chat().open?.chat.title).toBe('Renamed');
  expect(new Set(chat().chats.map(({ title }) => title))).toEqual(new Set(['Renamed', 'Also renamed']));
});

test('a chat that is read again shows nothing twice of what was just said', async () => {
  vi.useFakeTimers();
  const state = { status: 'running', turnId: 'turn' as TurnId } as const;
  world.messages.set(answer.id, { ...answer, text: 'So', state });
  await chat().load();
  const text = () => chat().open?.messages.get(answer.id)?.text;
  const event = { type: 'delta', text: ' it is.', kind: 'answer', tokens: 3 } as const;
  tell('turn', { chatId: first.id, messageId: answer.id, turnId: state.turnId, event });
  world.messages.set(answer.id, { ...answer, text: 'So it is.', state });
  await chat().load();
  vi.runAllTimers();
  vi.useRealTimers();
  expect(text()).toBe('So it is.');
});

describe('a new message of which no event came', () => {
  const actions = ['edit', 'rewrite', 'retry', 'runToolAgain'] as const;
  const act = (what: (typeof actions)[number]) => {
    if (what === 'edit') return chat().edit(question.id, 'Why not?');
    return what === 'retry' ? chat().retry(answer.id) : chat()[what](answer.id, 'Otherwise.' as never);
  };

  test.each(actions)('%s: is on the page once it was accepted', async (what) => {
    const known = new Set(chat().open?.messages.keys());
    deaf = true;
    await act(what);
    const fresh = [...world.messages.keys()].filter((id) => !known.has(id));
    expect(fresh.length).toBeGreaterThan(0);
    expect([...(chat().open?.messages.keys() ?? [])]).toEqual(expect.arrayContaining(fresh));
  });

  test.each(actions)('%s: the chat says why it cannot be read', async (what) => {
    deaf = true;
    failing.set('chats.get', 'disk-full');
    await act(what);
    expect(chat().refused[first.id]?.code).toBe('disk-full');
  });
});
