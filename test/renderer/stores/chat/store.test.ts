import { beforeEach, expect, test, vi } from 'vitest';
import {
  type Attachment,
  type CallFrame,
  type ClientFrame,
  type CoreFrame,
  type MessageId,
  pipePair,
  type StatsSample,
  type TurnId,
} from '../../../../app/protocol/index.ts';
import { createFakeCore } from '../../../support/fakes/core.ts';
import { createWorld, newChat, newMessage, type World } from '../../../support/fakes/world.ts';

//  What the page asks of the core, and what it shows by itself: no event of the core reaches it here.

const kept = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, text: string) => kept.set(name, text),
  removeItem: (name: string) => kept.delete(name),
});
vi.stubGlobal('requestAnimationFrame', () => 0);
vi.stubGlobal('document', { getElementById: () => null, documentElement: {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { useChat } = await import('../../../../renderer/stores/chat/store.ts');
const { nothingChosen } = await import('../../../../renderer/stores/chat/view-state.ts');

let world: World;
let asked: CallFrame[] = [];
let failing = new Map<string, 'not-found' | 'disk-full' | 'core-lost'>();
const chat = () => useChat.getState();
const calls = (name: string) => asked.filter(({ call }) => call === name).map(({ input }) => input);
const [first, second] = [newChat({ title: 'first', draft: 'typed' }), newChat({ title: 'second' })];
const question = newMessage(first.id, 'user', { text: 'Why?' });
const answer = newMessage(first.id, 'assistant', { text: 'So.', parentId: question.id });
const file = { id: 'attachment-1', name: 'a.txt' } as unknown as Attachment;

beforeEach(async () => {
  world = createWorld();
  world.chats.set(first.id, { ...first, leafId: answer.id });
  world.chats.set(second.id, second);
  world.messages.set(question.id, question);
  world.messages.set(answer.id, answer);
  failing = new Map();
  kept.clear();
  const core = createFakeCore(world);
  const [page, other] = pipePair<ClientFrame, CoreFrame>();
  core.switchboard.add(other);
  let deliver: (frame: CoreFrame) => void = () => {};
  page.onMessage((frame) => {
    if (!('event' in frame)) deliver(frame);
  });
  attach({
    ...page,
    onMessage: (listener) => {
      deliver = listener;
    },
    send: (frame) => {
      if (!('call' in frame)) return;
      asked.push(frame);
      const code = failing.get(frame.call);
      if (code) deliver({ id: frame.id, failure: { code, message: 'refused' } });
      else page.send(frame);
    },
  });
  useChat.setState({
    drafts: { new: '' },
    attachments: {},
    refused: {},
    chosen: null,
    fresh: nothingChosen,
    samples: new Map(),
  });
  await chat().load();
  await chat().choose(first.id);
  asked = [];
});

const titles = () => chat().chats.map(({ title }) => title);

test('a chat that is renamed, deleted and taken back is shown so at once', async () => {
  await chat().update({ title: 'renamed' });
  expect(titles()).toContain('renamed');
  expect(calls('chats.update')).toEqual([{ chatId: first.id, title: 'renamed' }]);
  await chat().remove(first.id);
  expect(calls('chats.delete')).toEqual([{ chatId: first.id }]);
  expect(titles()).toEqual(['second']);
  await chat().restore(first.id);
  expect(titles()).toContain('Restored');
});

test('a chat that is refused to be deleted stays', async () => {
  failing.set('chats.delete', 'disk-full');
  await expect(chat().remove(first.id)).rejects.toMatchObject({ code: 'disk-full' });
  expect(titles()).toContain('first');
});

test('one that another window deleted goes when it is opened', async () => {
  failing.set('chats.get', 'not-found');
  await chat().choose(second.id);
  expect(titles()).toEqual(['first']);
  expect([chat().open, chat().chosen]).toEqual([null, null]);
});

test('without an open chat, what is done in one is refused, and nothing is asked', async () => {
  await chat().choose(null);
  asked = [];
  await chat().retry(answer.id, 'search');
  expect(chat().refused.new).toEqual({ code: 'conflict', message: '[chat] no chat is open' });
  await expect(chat().update({ title: 'x' })).rejects.toMatchObject({ code: 'conflict' });
  expect(asked).toEqual([]);
  chat().clearRefusal();
  expect(chat().refused.new).toBeNull();
});

test('what was refused is forgotten when it is tried again', async () => {
  failing.set('turns.moveQueued', 'disk-full');
  await chat().moveQueued(question.id, 1);
  expect(chat().refused[first.id]).toMatchObject({ code: 'disk-full' });
  failing.clear();
  await chat()
    .sendQueued(question.id)
    .catch(() => {});
  await chat().decide('turn-1' as TurnId, 'stop' as never);
  expect(chat().refused[first.id]).toBeNull();
  failing.set('turns.decide', 'not-found');
  await chat().decide('turn-1' as TurnId, 'stop' as never);
  expect(chat().refused[first.id], 'somebody else decided').toBeNull();
  failing.set('turns.decide', 'disk-full');
  await chat().decide('turn-1' as TurnId, 'stop' as never);
  expect(chat().refused[first.id]).toMatchObject({ code: 'disk-full' });
});

test('a draft is saved once typing pauses, with its chat, and not where nothing changed', async () => {
  vi.useFakeTimers();
  try {
    for (const text of ['t', 'ty', 'tys']) chat().setDraft(text);
    await vi.advanceTimersByTimeAsync(399);
    expect(calls('chats.update')).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls('chats.update')).toEqual([{ chatId: first.id, draft: 'tys' }]);
    chat().setDraft('typed');
    chat().setDraft('tys again');
    await chat().keepDraft();
    expect(calls('chats.update')).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls('chats.update')).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('a draft that cannot be saved says so, but not for a connection that is gone', async () => {
  failing.set('chats.update', 'core-lost');
  chat().setDraft('other');
  await chat().keepDraft();
  expect(chat().refused[first.id]).toBeNull();
  failing.set('chats.update', 'disk-full');
  await chat().keepDraft();
  expect(chat().refused[first.id]).toMatchObject({ code: 'disk-full' });
});

test('the draft of a new chat outlives a reload, and goes with the first message', async () => {
  await chat().choose(null);
  chat().setDraft('Hello there');
  chat().setAttachments([file]);
  expect(kept.get('longhand.draft')).toBe('Hello there');
  const [id, same] = await Promise.all([chat().ensureChat(), chat().ensureChat()]);
  expect([same, await chat().ensureChat()]).toEqual([id, id]);
  expect(kept.size).toBe(0);
  expect(calls('chats.create')).toHaveLength(1);
  expect([chat().chosen, chat().open?.chat.id]).toEqual([id, id]);
  expect([chat().drafts.new, chat().drafts[id]]).toEqual(['', 'Hello there']);
  expect([chat().attachments.new, chat().attachments[id]]).toEqual([[], [file]]);
});

test('a text from elsewhere begins a new chat; what is typed there already stays', async () => {
  await chat().beginWith('Summarise this');
  expect([chat().chosen, chat().drafts.new]).toEqual([null, 'Summarise this']);
  expect(calls('chats.create')).toEqual([]);
  await chat().beginWith('Another');
  const { chosen } = chat();
  expect(chosen).not.toBeNull();
  expect([chat().drafts.new, chosen && chat().drafts[chosen]]).toEqual(['Summarise this', 'Another']);
  expect(calls('attachments.move')).toEqual([]);
});

test('a message without a connection, or without words, is not sent and stays in its field', async () => {
  const { useConnection } = await import('../../../../renderer/bridge.ts');
  chat().setDraft(' \n');
  await chat().send(false);
  expect(calls('turns.send')).toEqual([]);
  chat().setDraft('Hello');
  const { status } = useConnection.getState();
  for (const lost of ['lost', 'gone', 'outdated'] as const) {
    useConnection.setState({ status: lost });
    await chat().send(false);
    expect(chat().refused[first.id]).toMatchObject({ code: 'core-lost' });
  }
  useConnection.setState({ status });
  expect([chat().drafts[first.id], calls('turns.send')]).toEqual(['Hello', []]);
  await chat().send(true);
  expect(calls('turns.send')).toMatchObject([{ chatId: first.id, text: 'Hello', attachments: [], now: true }]);
  expect([chat().drafts[first.id], chat().refused[first.id]]).toEqual(['', null]);
  expect([...(chat().open?.messages.values() ?? [])].map(({ text }) => text)).toContain('Hello');
});

test('a message that was refused is put back in front of what was typed meanwhile', async () => {
  failing.set('turns.send', 'disk-full');
  chat().setDraft('Hello');
  chat().setAttachments([file]);
  const sent = chat().send(false);
  chat().setDraft('and more');
  await sent;
  expect(chat().drafts[first.id]).toBe('Hello\n\nand more');
  expect(chat().attachments[first.id]).toEqual([file]);
  expect(chat().refused[first.id]).toMatchObject({ code: 'disk-full' });
});

test('an editor closes when its message was sent, and another one stays open', async () => {
  chat().setEditing(question.id);
  await chat().edit(question.id, 'Why not?');
  expect(chat().editing).toBeNull();
  expect([...(chat().open?.messages.values() ?? [])].map(({ text }) => text)).toContain('Why not?');
  chat().setEditing(question.id);
  await chat().rewrite(answer.id, 'Therefore.');
  expect(chat().editing).toBe(question.id);
  expect([...(chat().open?.messages.values() ?? [])].map(({ text }) => text)).toContain('Therefore.');
});

test('figures of an answer are read once while its chat is open, before those that came as events', async () => {
  const sample = (atMs: number) => ({ atMs }) as StatsSample;
  const { calls: known } = await import('../../../../app/protocol/calls.ts');
  const stored = { safeParse: (data: unknown) => ({ success: true as const, data }) };
  const checked = vi.spyOn(known['turns.samples'].response, 'safeParse').mockImplementation(stored.safeParse as never);
  world.samples.set(answer.id, [sample(10), sample(20)] as never);
  useChat.setState({ samples: new Map([[answer.id, [sample(20), sample(30)]]]) });
  await chat().readSamples(answer.id);
  await chat().readSamples(answer.id);
  expect(
    chat()
      .samples.get(answer.id)
      ?.map(({ atMs }) => atMs),
  ).toEqual([10, 20, 30]);
  expect(calls('turns.samples')).toHaveLength(1);
  await chat().choose(first.id);
  await chat().readSamples(answer.id);
  expect(calls('turns.samples')).toHaveLength(1);
  await chat().choose(second.id);
  await chat().choose(first.id);
  await chat().readSamples(answer.id);
  expect(calls('turns.samples')).toHaveLength(2);
  checked.mockRestore();
});

test('stopping and answering now go to the turn that runs, and to none where none does', async () => {
  await chat().stop();
  await chat().answerNow();
  expect(asked).toEqual([]);
  const running = newMessage(first.id, 'assistant', {
    parentId: question.id,
    state: { status: 'running', turnId: 'turn-9' as TurnId },
  });
  world.messages.set(running.id, running);
  await chat().choose(second.id);
  await chat().choose(first.id);
  await chat().stop();
  await chat().answerNow();
  expect([calls('turns.cancel'), calls('turns.skipThinking')]).toEqual([
    [{ turnId: 'turn-9' }],
    [{ turnId: 'turn-9' }],
  ]);
});

test('a waiting message that is taken back stands before the draft, and one that was sent meanwhile does not', async () => {
  await chat().takeBack('message-gone' as MessageId);
  expect(chat().drafts[first.id]).toBe('typed');
  failing.set('turns.editQueued', 'not-found');
  await chat().takeBack(question.id);
  expect(chat().drafts[first.id]).toBe('typed');
  failing.clear();
  await chat()
    .takeBack(question.id)
    .catch(() => {});
  expect(chat().drafts[first.id]).toBe('Why?\n\ntyped');
  expect(calls('chats.update')).toEqual([{ chatId: first.id, draft: 'Why?\n\ntyped' }]);
});

test('an overlay is closed by what opened it only', () => {
  chat().setOverlay({ kind: 'find' });
  chat().closeOverlay('tools');
  expect(chat().overlay).toEqual({ kind: 'find' });
  chat().closeOverlay('find');
  expect(chat().overlay).toEqual({ kind: 'none' });
});

test('a text with files begins a chat of its own, whose draft is saved and whose files went along', async () => {
  await chat()
    .beginWith('Read this', [file])
    .catch(() => {});
  expect(calls('attachments.move')).toMatchObject([{ attachmentIds: [file.id] }]);
});

test('a draft that is replaced takes its files away, and is saved before anything else is asked', async () => {
  chat().setAttachments([file], first.id);
  await chat().replaceDraft(first.id, 'shorter');
  expect([chat().drafts[first.id], chat().attachments[first.id]]).toEqual(['shorter', []]);
  expect(world.chats.get(first.id)?.draft).toBe('shorter');
});

test('a draft typed while the core was away is saved when it is back', async () => {
  chat().setDraft('typed meanwhile');
  await chat().load();
  expect(world.chats.get(first.id)?.draft).toBe('typed meanwhile');
});

test('all chats are there after loading, also those beyond the first page', async () => {
  for (let at = 0; at < 450; at++) {
    const one = newChat({ title: `chat ${at}`, updatedAt: 1000 + at });
    world.chats.set(one.id, one);
  }
  await chat().load();
  expect(chat().chats).toHaveLength(452);
});

test('a message that begins a branch follows the answer it was begun at, and the next one does not', async () => {
  chat().setBranchFrom(answer.id);
  chat().setDraft('Another way');
  await chat().send(false);
  chat().setDraft('And then');
  await chat().send(false);
  const [branch, next] = calls('turns.send') as { parentId?: string }[];
  expect([branch?.parentId, next?.parentId, chat().branchFrom]).toEqual([answer.id, undefined, null]);
});
