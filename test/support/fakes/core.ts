import { queued } from '../../../app/chat/tree.ts';
import {
  type Chat,
  type ChatId,
  createSwitchboard,
  type Emit,
  type Handlers,
  LonghandError,
  type Message,
  type MessageId,
  type Settings,
  type TurnEvent,
  type TurnId,
} from '../../../app/protocol/index.ts';
import { fakeAttachments } from './attachments.ts';
import { fakeDocuments } from './documents.ts';
import { fakeModels } from './models.ts';
import { fakeQuality } from './quality.ts';
import { fakeServer } from './server.ts';
import { newChat, newMessage, nextId, type Script, STARTER, starter, type World } from './world.ts';

//  A core in memory for looking at the renderer: handlers of the protocol over plain maps. It computes nothing; answers are
//  scripted. The end-to-end tests use the real core.

const MEMORY = 13.5 * 2 ** 30;

export function createFakeCore(world: World) {
  const cancelled = new Set<TurnId>();
  let emit: Emit = () => {};

  const chatOf = (id: ChatId) => found(world.chats.get(id), 'chat');
  const messageOf = (id: MessageId) => found(world.messages.get(id), 'message');

  function keepChat(chat: Chat): Chat {
    world.chats.set(chat.id, chat);
    emit('chat.changed', chat);
    return chat;
  }

  function keepMessage(message: Message): Message {
    world.messages.set(message.id, message);
    emit('message.changed', message);
    return message;
  }

  function say(message: Message, turnId: TurnId, event: TurnEvent) {
    emit('turn', { chatId: message.chatId, messageId: message.id, turnId, event });
  }

  async function write(answer: Message, script: Script) {
    const turnId = nextId<TurnId>('turn');
    let message = keepMessage({ ...answer, state: { status: 'running', turnId } });
    say(message, turnId, { type: 'started', model: starter.name, backEnd: 'metal' });
    const parts: ['thinking' | 'answer', string][] = [
      ['thinking', script.thinking ?? ''],
      ['answer', script.text],
    ];
    for (const [kind, text] of parts) {
      const chunk = script.chunk ?? 8;
      for (let at = 0; at < text.length && !cancelled.has(turnId); at += chunk) {
        await new Promise((resolve) => setTimeout(resolve, script.everyMs ?? 20));
        const piece = text.slice(at, at + chunk);
        message =
          kind === 'answer'
            ? { ...message, text: message.text + piece }
            : { ...message, thinking: message.thinking + piece };
        world.messages.set(message.id, message);
        say(message, turnId, { type: 'delta', text: piece, kind, tokens: Math.max(1, Math.round(piece.length / 4)) });
      }
    }
    const reason = cancelled.has(turnId) ? 'cancelled' : 'stop';
    const usage = {
      promptTokens: 128,
      cachedTokens: 96,
      thinkingTokens: Math.round(message.thinking.length / 4),
      answerTokens: Math.round(message.text.length / 4),
    };
    const timings = {
      firstTokenMs: 420,
      prefillMs: 380,
      decodeMs: 6800,
      thinkingMs: 1200,
      totalMs: 7220,
      tokensPerSecond: 46.1,
    };
    say(message, turnId, { type: 'finished', reason, usage, timings });
    keepMessage({ ...message, state: { status: 'done', reason }, usage, timings });
  }

  function answer(chat: Chat, parent: Message) {
    const message = keepMessage(newMessage(chat.id, 'assistant', { parentId: parent.id }));
    keepChat({ ...chat, leafId: message.id, updatedAt: Date.now() });
    void write(message, world.script(parent.text));
    return message;
  }

  const started = (user: Message | null, message: Message) => ({
    userMessageId: user?.id ?? null,
    messageId: message.id,
    turnId: null,
  });

  const handlers: Handlers = {
    'app.info': () => ({
      version: '0.1.0',
      commit: 'fake',
      platform: 'linux',
      shell: 'browser',
      dataFolder: '/home/ada/.local/share/longhand',
      notices: [],
    }),
    'chats.list': ({ limit, before }) =>
      [...world.chats.values()]
        .filter(({ updatedAt }) => before === undefined || updatedAt < before)
        .sort((a, b) => b.updatedAt - a.updatedAt)
        .slice(0, limit),
    'chats.search': ({ query }) =>
      [...world.messages.values()].flatMap((message) => {
        const at = message.text.toLowerCase().indexOf(query.toLowerCase());
        if (at === -1) return [];
        const from = Math.max(0, at - 12);
        const excerpt = `…${message.text.slice(from, at + 40).replace(/\n/g, ' ')}`;
        const start = at - from + 1;
        return [
          {
            chatId: message.chatId,
            messageId: message.id,
            title: chatOf(message.chatId).title,
            excerpt,
            highlights: [[start, start + query.length] as [number, number]],
          },
        ];
      }),
    'chats.create': ({ modelId }) => keepChat(newChat({ modelId })),
    'chats.get': ({ chatId }) => ({
      chat: chatOf(chatId),
      messages: [...world.messages.values()].filter((message) => message.chatId === chatId),
    }),
    'chats.update': ({ chatId, ...change }) => keepChat({ ...chatOf(chatId), ...(change as Partial<Chat>) }),
    'chats.delete': ({ chatId }) => {
      world.chats.delete(chatId);
      emit('chat.deleted', { chatId });
    },
    'chats.restore': ({ chatId }) => keepChat(newChat({ id: chatId, title: 'Restored' })),
    'chats.selectBranch': ({ messageId }) => {
      const message = messageOf(messageId);
      return keepChat({ ...chatOf(message.chatId), leafId: newestBelow(messageId) });
    },
    'turns.send': ({ chatId, text, parentId }) => {
      const chat = chatOf(chatId);
      const running = [...world.messages.values()].some(
        (message) => message.chatId === chatId && message.state.status === 'running',
      );
      const user = keepMessage(
        newMessage(chatId, 'user', {
          text,
          parentId: parentId ?? chat.leafId,
          ...(running && { state: { status: 'queued', place: 0 } }),
        }),
      );
      return running ? { userMessageId: user.id, messageId: user.id, turnId: null } : started(user, answer(chat, user));
    },
    'turns.editAndResend': ({ messageId, text }) => {
      const before = messageOf(messageId);
      const user = keepMessage(newMessage(before.chatId, 'user', { text, parentId: before.parentId }));
      return started(user, answer(chatOf(before.chatId), user));
    },
    'turns.editAnswer': ({ messageId, text }) => {
      const before = messageOf(messageId);
      const message = keepMessage(newMessage(before.chatId, 'assistant', { text, parentId: before.parentId }));
      keepChat({ ...chatOf(before.chatId), leafId: message.id });
      return message;
    },
    'turns.regenerate': ({ messageId }) => {
      const before = messageOf(messageId);
      return started(null, answer(chatOf(before.chatId), messageOf(before.parentId as MessageId)));
    },
    'turns.continue': ({ messageId }) => {
      const message = messageOf(messageId);
      void write(message, { text: ' and so it went on to its end.' });
      return started(null, message);
    },
    'turns.runToolAgain': ({ messageId }) => {
      const before = messageOf(messageId);
      return started(null, answer(chatOf(before.chatId), messageOf(before.parentId as MessageId)));
    },
    'turns.cancel': ({ turnId }) => {
      cancelled.add(turnId);
    },
    'turns.skipThinking': () => undefined,
    'turns.decide': () => undefined,
    'turns.cancelAutoDecision': () => undefined,
    'turns.editQueued': ({ messageId, text }) => {
      const message = messageOf(messageId);
      if (text !== null) keepMessage({ ...message, text });
      else {
        world.messages.delete(messageId);
        emit('message.deleted', { chatId: message.chatId, messageId });
      }
    },
    'turns.moveQueued': ({ messageId, by }) => {
      const { chatId } = messageOf(messageId);
      const waiting = queued([...world.messages.values()].filter((message) => message.chatId === chatId));
      const to = Math.max(0, waiting.findIndex(({ id }) => id === messageId) + by);
      waiting
        .filter(({ id }) => id !== messageId)
        .toSpliced(to, 0, messageOf(messageId))
        .forEach((message, place) => void keepMessage({ ...message, state: { status: 'queued', place } }));
    },
    'turns.sendQueued': ({ messageId }) => {
      const message = messageOf(messageId);
      const chat = chatOf(message.chatId);
      answer(chat, keepMessage({ ...message, parentId: chat.leafId, state: { status: 'done', reason: null } }));
    },
    'turns.samples': ({ messageId }) => world.samples.get(messageId) ?? [],
    'context.measure': ({ draft }) =>
      world.measure ?? { used: 11_212, draft: Math.round(draft.length / 4), limit: 32_768 },
    'context.overflowOptions': () => world.plan,
    'context.exclude': ({ messageId, summary }) =>
      keepMessage({ ...messageOf(messageId), contextCutoff: { since: Date.now(), summary, restored: false } }),
    'context.include': ({ messageId }) =>
      keepMessage({ ...messageOf(messageId), contextCutoff: { since: Date.now(), summary: null, restored: true } }),
    'context.summarise': () => ({ text: 'You plan a thesis in five chapters. Chapter 2 opens with the history.' }),
    'context.stopSummary': () => undefined,
    ...fakeAttachments(() => nextId('attachment')),
    ...fakeDocuments(world.library, (name, payload) => emit(name, payload)),
    ...fakeModels(world, (name, payload) => emit(name, payload)),
    ...fakeQuality(world, (name, payload) => emit(name, payload)),
    'models.load': () => undefined,
    'models.cancelLoad': () => undefined,
    'models.unload': () => undefined,
    'engine.status': () => world.status,
    'engine.devices': () => [
      {
        id: 'metal',
        backEnd: 'metal',
        available: true,
        name: 'M3 Pro',
        detail: '18 GPU cores',
        memoryBytes: MEMORY,
        unified: true,
      },
      {
        id: 'vulkan',
        backEnd: 'vulkan',
        available: false,
        name: 'Vulkan',
        detail: '',
        memoryBytes: 0,
        unified: false,
        reason: 'Not in this build, because this computer has no Vulkan driver.',
      },
    ],
    'engine.restart': () => undefined,
    'engine.promptCache': () => ({
      bytes: 412_000_000,
      budgetBytes: 2_000_000_000,
      diskBytes: 0,
      onDisk: null,
      hitShare: 0.87,
    }),
    'engine.clearPromptCache': () => undefined,
    'metrics.runs': () => world.runs,
    'metrics.export': () => '',
    'benchmark.start': ({ modelIds }) => {
      world.benchmarked = modelIds;
      emit('benchmark', { status: 'running', modelId: modelIds[0] ?? STARTER, done: 2, total: 6 });
    },
    'trial.start': ({ prompt, modelIds }) => {
      const side = (at: 0 | 1) => ({
        modelId: modelIds[at],
        name: world.models.find(({ id }) => id === modelIds[at])?.name ?? '',
        text: world.tried[at],
        status: at === 0 ? ('done' as const) : ('writing' as const),
        cut: false,
        tokensPerSecond: at === 0 ? 14.2 : null,
        failure: null,
      });
      emit('trial', { prompt, sides: [side(0), side(1)] });
    },
    'trial.stop': () => {},
    'benchmark.cancel': () => emit('benchmark', { status: 'idle' }),
    'benchmark.conditions': () => ({ battery: false, hot: false, busy: false }),
    'benchmark.state': () => ({ status: 'idle' }),
    ...fakeServer(world.server),
    'turns.decideTool': () => undefined,
    'remoteEngines.list': () => world.remoteEngines,
    'remoteEngines.test': ({ address }) => ({
      address,
      host: new URL(address).host,
      here: false,
      models: [
        { model: 'Qwen/Qwen3.5-27B', contextLength: 131_072, pictures: null },
        { model: 'google/gemma-3-27b-it', contextLength: 131_072, pictures: true },
      ],
    }),
    'remoteEngines.add': () => world.remoteEngines[0] as (typeof world.remoteEngines)[number],
    'remoteEngines.change': () => world.remoteEngines[0] as (typeof world.remoteEngines)[number],
    'remoteEngines.remove': () => undefined,
    'remoteEngines.setPictures': () => undefined,
    'mcp.servers': () => world.mcp,
    'mcp.add': () => world.mcp,
    'mcp.remove': () => undefined,
    'mcp.restart': () => undefined,
    'mcp.log': () => ['Secure MCP Filesystem Server running on stdio'],
    'mcp.prompt': ({ name, given }) => ({
      messages: [{ role: 'user' as const, text: [name, ...Object.values(given)].join(' ') }],
    }),
    'mcp.complete': ({ value }) =>
      [
        'Addresses',
        'Letter to the landlord',
        'Letter to the bank',
        'List of repairs',
        'Meter readings',
        'Rent since March',
      ].filter((name) => name.toLowerCase().startsWith(value.toLowerCase())),
    'mcp.setAlways': () => undefined,
    'tools.list': () => ({ able: true, tools: world.tools }),
    'tools.pageHosts': () => world.pageHosts,
    'tools.forgetPageHost': ({ host }) => void world.pageHosts.splice(world.pageHosts.indexOf(host), 1),
    'settings.get': () => world.settings,
    'settings.set': (patch) => {
      world.settings = { ...world.settings, ...(patch as Partial<Settings>) };
      return world.settings;
    },
  };

  function newestBelow(messageId: MessageId): MessageId {
    const child = [...world.messages.values()].findLast((message) => message.parentId === messageId);
    return child ? newestBelow(child.id) : messageId;
  }

  const switchboard = createSwitchboard(handlers);
  emit = switchboard.emit;
  return { switchboard, emit: switchboard.emit, world };
}

function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new LonghandError('not-found', `[fake] no such ${what}`);
  return value;
}
