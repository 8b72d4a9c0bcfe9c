import type {
  Chat,
  Message,
  MessageId,
  NetworkState,
  Run,
  ServerRequest,
  TurnId,
} from '../../../app/protocol/index.ts';
import type { TurnProgress } from '../../../renderer/stores/chat/reducers.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { useShell } from '../../../renderer/stores/shell.ts';
import { newCollection } from '../../support/fakes/documents.ts';
import { createWorld, newChat, newMessage } from '../../support/fakes/world.ts';
import { recordedAnswer } from '../../support/recorded-answer.ts';
import { attacks } from './attacks.ts';
import {
  asAnswers,
  branchesScene,
  chatScene,
  crashScene,
  curveOf,
  heavy,
  loopScene,
  manyScene,
  overflowScene,
  speedScene,
} from './chat-scenes.ts';
import { documentScenes } from './document-scenes.ts';
import { ANSWER, DAY, put, timings, usage, worldOfMocks } from './mock-chats.ts';
import { modelScenes, type Scene } from './model-scenes.ts';
import { pictureScene } from './picture-scenes.ts';
import { passagesScene, remoteEnginesScene } from './remote-engine-scenes.ts';
import { toolsScene } from './tool-scenes.ts';

function performanceScene(long = false): Scene {
  const { world } = worldOfMocks();
  const versions: [string, number][] = [
    ['0.8.4', 38],
    ['0.9.0', 41.5],
    ['0.9.1', 42],
    ['0.9.2', 37],
    ['0.9.3', 44.3],
    ['0.9.4', 45],
    ['0.9.5', 46.4],
  ];
  const chatId = [...world.chats.keys()][0] ?? null;
  const runs = versions.flatMap(([engine, speed], version) =>
    Array.from({ length: 16 }, (_, index): Run => {
      const decode = speed + 2.5 * Math.sin(index * 1.7 + version) + (index === 7 ? -6 : 0);
      const bench = index >= 11;
      return {
        id: version * 16 + index + 1,
        batch: bench ? `batch-${engine}` : null,
        messageId: null,
        chatId: bench ? null : chatId,
        at: Date.now() - (7 - version) * 3 * DAY,
        model: long ? 'Qwen3.5 4B Instruct, converted by somebody, Q4_K_M' : 'Qwen3.5 4B',
        backEnd: 'metal',
        engine,
        promptTokens: 2200,
        cachedTokens: 100,
        tokens: 240,
        prefill: decode * 50,
        decode,
        firstTokenMs: 18_500 / decode,
        memoryBytes: 6.1 * 2 ** 30,
        disturbed: bench && (long || version === 3),
        curve: bench ? curveOf(speed) : [],
      };
    }),
  );
  world.runs = runs.reverse();
  return { world, after: () => useShell.getState().go({ kind: 'performance' }) };
}

const NETWORK: NetworkState = {
  status: 'on',
  port: 4881,
  addresses: ['https://ada.local:4881', 'https://192.168.1.20:4881'],
  fingerprint: 'B0:7A:33:5E:19:C4:2F:80:6D:91:EE:04:57:AB:3C:D2:68:F1:0B:9A:44:7E:25:C8:13:BD:6F:52:90:E7:3A:01',
  certificate: '-----BEGIN CERTIFICATE-----',
};

function serverScene(full: boolean): Scene {
  const { world } = worldOfMocks();
  const now = Date.now();
  const key = (id: string, name: string, usedAt: number | null) => ({
    id,
    name,
    hint: 'lh-7c1e…90ba',
    createdAt: now,
    usedAt,
  });
  const request = (id: number, change: Partial<ServerRequest>): ServerRequest => ({
    id: String(id),
    at: now - id * 43_000,
    method: 'POST',
    path: '/v1/chat/completions',
    client: 'Editor',
    model: 'qwen3.5-4b',
    state: 'done',
    status: 200,
    reason: null,
    promptTokens: 8204,
    cachedTokens: 7936,
    differsAt: null,
    miss: null,
    writtenTokens: 312,
    firstMs: 310,
    totalMs: 7200,
    inspected: false,
    ...change,
  });
  const refused = { state: 'refused', client: null, model: null, promptTokens: null, cachedTokens: null } as const;
  const none = { writtenTokens: null, firstMs: null } as const;
  if (full) {
    Object.assign(world.server, {
      state: { phase: 'on', address: 'http://127.0.0.1:4880', port: 4880, network: NETWORK, since: now - 3e6 },
      keys: [key('1', 'Editor', now - 60_000), key('2', 'Terminal', now - 4e6), key('3', 'Notebook', null)],
      requests: [
        request(1, { state: 'running', totalMs: null }),
        request(2, { cachedTokens: 1024, promptTokens: 8120, differsAt: 1040, totalMs: 15_900, inspected: true }),
        request(3, { path: '/v1/messages', client: 'Terminal' }),
        request(4, { path: '/v1/embeddings', client: 'Notebook', cachedTokens: null, ...none }),
        request(5, {
          ...refused,
          ...none,
          method: 'GET',
          path: '/v1/models',
          status: 401,
          totalMs: 0,
          reason: 'The key is missing or wrong.',
        }),
        request(6, { state: 'stopped', client: 'Terminal' }),
        request(7, {
          ...refused,
          ...none,
          status: 403,
          totalMs: 0,
          reason: 'Web pages from this origin are not allowed.',
        }),
      ],
      texts: {
        asked: [
          { role: 'system', text: 'You are a careful reviewer.\nThe time is 09:40:57.' },
          { role: 'user', text: 'What does this function do?' },
        ],
        difference: {
          role: 'system',
          before: 'You are a careful reviewer.',
          was: 'The time is 09:39:12.',
          now: 'The time is 09:40:57.',
        },
        thinking: '',
        answer: 'It adds two numbers.',
        calls: '',
      },
    });
    world.settings.serverOn = true;
    world.settings.serverInspector = true;
  } else {
    world.settings.serverOn = true;
    world.server.state = { phase: 'failed', reason: 'taken', port: 4880, free: 4881, message: '' };
  }
  return { world, after: () => useShell.getState().go({ kind: 'server' }) };
}

function longScene(turns: number): Scene {
  const { world } = worldOfMocks();
  const chat = newChat({ title: 'A chat of 100,000 tokens' });
  const messages = Array.from({ length: turns }, () => [
    newMessage(chat.id, 'user', { text: 'Explain it once more.' }),
    newMessage(chat.id, 'assistant', { text: `${ANSWER}\n\n`.repeat(4), timings, usage }),
  ]);
  return put(world, chat, messages.flat());
}

/** The first answer warms the page up; every later one is the recording. */
function streamScene(tokens: number, turnsBefore: number): Scene {
  const scene = turnsBefore === 0 ? { world: createWorld() } : longScene(turnsBefore);
  scene.world.script = (prompt) => ({
    text: recordedAnswer(prompt === 'warm' ? 1500 : tokens),
    chunk: 40,
    everyMs: 20,
  });
  return scene;
}

function thinkingScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Rename photos by date') as Chat;
  const question = newMessage(chat.id, 'user', { text: 'Number the rows of each day.' });
  const turnId = 'turn-thinking' as TurnId;
  const answer = newMessage(chat.id, 'assistant', {
    thinking: 'The rows are sorted by day, so one pass is enough. Keep the last day and a counter, and reset',
    state: { status: 'running', turnId },
  });
  const waiting = ['And the videos?', 'And what of pictures without a date?'].map((text) =>
    newMessage(chat.id, 'user', { text, state: { status: 'queued', place: 0 } }),
  );
  const scene = put(world, chat, [question, answer]);
  for (const message of waiting) world.messages.set(message.id, message);
  const live: TurnProgress = {
    turnId,
    startedAt: -8200,
    reading: null,
    thinking: { since: -8200, until: null, tokens: 377 },
    answerTokens: 0,
    firstTokenAt: 0,
    pause: null,
    similar: null,
    calling: null,
  };
  return { ...scene, after: () => setTimeout(() => useChat.setState({ live: new Map([[answer.id, live]]) }), 400) };
}

/** A message that cannot be drawn. No core can send one, so it is put into the page, whenever the chat is read. */
function brokenScene(): Scene {
  const scene = crashScene();
  const isSound = ({ role, attachments }: Message) => role === 'user' && attachments !== null;
  useChat.subscribe(({ open }) => {
    if (!open || ![...open.messages.values()].some(isSound)) return;
    const messages = [...open.messages].map(([id, message]): [MessageId, Message] => [
      id,
      isSound(message) ? { ...message, attachments: null as never } : message,
    ]);
    useChat.setState({ open: { ...open, messages: new Map(messages) } });
  });
  return scene;
}

function emptyScene(): Scene {
  const { world } = worldOfMocks();
  for (const name of ['Papers', 'Contracts']) {
    const collection = newCollection(name, { documents: 12 });
    world.library.collections.set(collection.id, collection);
  }
  return { world };
}

function linksScene(): Scene {
  const { world } = worldOfMocks();
  const chat = newChat({ title: 'Links' });
  return put(world, chat, [newMessage(chat.id, 'assistant', { text: 'See [a page](https://example.org/path?q=1).' })]);
}

const scenes: Record<string, () => Scene> = {
  ...modelScenes(worldOfMocks),
  ...documentScenes(worldOfMocks, put),
  chat: chatScene,
  branches: branchesScene,
  crash: crashScene,
  pictures: () => pictureScene(true),
  'pictures-unseen': () => pictureScene(false),
  many: manyScene,
  overflow: overflowScene,
  loop: loopScene,
  speed: speedScene,
  performance: () => performanceScene(),
  'performance-long': () => performanceScene(true),
  server: () => serverScene(true),
  'server-taken': () => serverScene(false),
  attacks: () => asAnswers(attacks),
  heavy: () => asAnswers(heavy),
  long: () => longScene(100),
  thinking: thinkingScene,
  tools: toolsScene,
  remote: remoteEnginesScene,
  passages: passagesScene,
  broken: brokenScene,
  links: linksScene,
  stream: () => streamScene(20_000, 0),
  'stream-long': () => streamScene(20_000, 100),
  'stream-short': () => streamScene(4000, 0),
  'stream-short-long': () => streamScene(4000, 100),
  empty: emptyScene,
  onboarding: () => {
    const world = createWorld();
    world.settings.onboarded = false;
    return { world };
  },
};

export function sceneOf(name: string): Scene {
  const make = scenes[name] ?? scenes.empty;
  return (make as () => Scene)();
}
