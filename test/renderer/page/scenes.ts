import type { Chat, LoopEvidence, Message, Run, StatsSample, TurnId } from '../../../app/protocol/index.ts';
import type { TurnProgress } from '../../../renderer/stores/chat/reducers.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { useEngine } from '../../../renderer/stores/engine.ts';
import { useShell } from '../../../renderer/stores/shell.ts';
import { createWorld, newChat, newMessage, type World } from '../../support/fake-core.ts';
import { newCollection } from '../../support/fake-documents.ts';
import { recordedAnswer } from '../../support/recorded-answer.ts';
import { attacks } from './attacks.ts';
import { documentScenes } from './document-scenes.ts';
import { modelScenes, type Scene } from './model-scenes.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const titles: [string, number, boolean?][] = [
  ['Thesis notes', 2 * DAY, true],
  ['Why decode speed stays flat', 1 * MINUTE],
  ['Round table puzzle', 12 * MINUTE],
  ['Letter to the landlord', 40 * MINUTE],
  ['Rename photos by date', DAY],
  ['Sourdough at 12 °C', DAY + MINUTE],
  ['Parse the bank export', DAY + 2 * MINUTE],
  ['German verbs, week 6', 3 * DAY],
  ['Bike insurance, compared', 4 * DAY],
];

function worldOfMocks(): { world: World; chats: Map<string, Chat> } {
  const world = createWorld();
  const now = Math.max(Date.now(), new Date().setHours(12, 0, 0, 0));
  const chats = new Map(
    titles.map(([title, age, pinned = false]) => {
      const chat = newChat({ title, titleSource: 'model', pinned, updatedAt: now - age });
      world.chats.set(chat.id, chat);
      return [title, chat];
    }),
  );
  return { world, chats };
}

const samples = (count: number): StatsSample[] =>
  Array.from({ length: count }, (_, index) => ({
    atMs: index * 100,
    phase: 'answer',
    tokensPerSecond: 46 + 5 * Math.sin(index * 1.7) * Math.cos(index * 0.6) - 12 * Math.exp(-index / 3),
    tokens: index * 5,
    memoryBytes: null,
  }));

function put(world: World, chat: Chat, messages: Message[]): Scene {
  let parentId: Message['parentId'] = null;
  for (const message of messages) {
    world.messages.set(message.id, { ...message, parentId });
    world.samples.set(message.id, samples(60));
    parentId = message.id;
  }
  world.chats.set(chat.id, { ...chat, leafId: parentId });
  return { world, open: chat.id };
}

const ANSWER = `A full-attention layer reads every stored key and value for each new token, so its work grows with the context. A gated linear layer keeps **one matrix of fixed size per head** and folds each token into it:

$$
S_t = \\alpha_t S_{t-1} (I - \\beta_t k_t k_t^\\top) + \\beta_t v_t k_t^\\top
$$

The first term lets old content fade and clears the slot that \\(k\\) points to. The second writes the new value there. In code:

\`\`\`python
def step(S, q, k, v, alpha, beta):
    S = alpha * (S - beta * np.outer(S @ k, k))  # forget what k held
    S = S + beta * np.outer(v, k)                # write v at k
    return S, S @ q
\`\`\`

Nothing here depends on the position, so a token costs the same at 100 as at 100,000. The price is exact recall: a fixed matrix blurs once it holds too many associations. That is why this model keeps 8 full layers beside its 24 linear ones.`;

const timings = {
  firstTokenMs: 420,
  prefillMs: 380,
  decodeMs: 6800,
  thinkingMs: 6800,
  totalMs: 14_000,
  tokensPerSecond: 46.1,
};
const usage = { promptTokens: 10_122, cachedTokens: 8204, thinkingTokens: 312, answerTokens: 204 };

function chatScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Why decode speed stays flat') as Chat;
  const question = newMessage(chat.id, 'user', {
    text: 'Why does the time per token stay flat in gated linear attention when the context grows? Use my papers and show the recurrence.',
  });
  const answer = newMessage(chat.id, 'assistant', {
    text: ANSWER,
    thinking: 'The state is fixed.\n\nSo is the work for each token.',
    timings,
    usage,
  });
  const scene = put(world, chat, [question, answer]);
  for (const createdAt of [answer.createdAt - 1000, answer.createdAt + 1000]) {
    const other = newMessage(chat.id, 'assistant', {
      text: 'Another version.',
      parentId: question.id,
      createdAt,
      timings,
      usage,
    });
    world.messages.set(other.id, other);
  }
  return scene;
}

/** Sixty turns, and ways that leave them: after the second answer, at the end, and an answer that is being written. */
function branchesScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Letter to the landlord') as Chat;
  const turns = Array.from({ length: 60 }, (_, at) => [
    newMessage(chat.id, 'user', { text: `Shorten paragraph ${at + 1}, and keep the date.` }),
    newMessage(chat.id, 'assistant', { text: `Paragraph ${at + 1}, shorter: ${ANSWER}`, timings, usage }),
  ]).flat();
  const scene = put(world, chat, turns);
  const add = (role: Message['role'], parentId: Message['parentId'], change: Partial<Message>) => {
    const message = newMessage(chat.id, role, { parentId, createdAt: Date.now() + world.messages.size, ...change });
    world.messages.set(message.id, message);
    return message.id;
  };
  const [, , , second] = turns;
  const asked = add('user', second?.id ?? null, {
    text: 'Make the whole letter **friendlier**, but keep the deadline.',
  });
  add('assistant', asked, {
    text: 'Dear Ms Lindqvist, thank you for the quick reply about the heating.',
    timings,
    usage,
  });
  const running = { status: 'running', turnId: 'turn-branch' as TurnId } as const;
  add('assistant', turns.at(-2)?.id ?? null, { text: 'Paragraph 60 in one sentence: the flat', state: running });
  return scene;
}

/** A thousand chats of one moment after the other. */
function manyScene(): Scene {
  const world = createWorld();
  const now = Date.now();
  for (let at = 1; at <= 1000; at++) {
    const title = at === 3 ? 'شكرا جزيلا على الرسالة' : at === 4 ? '👨‍👩‍👧'.repeat(60) : `Chat ${at}`;
    const chat = newChat({ title, titleSource: 'user', updatedAt: now - at });
    world.chats.set(chat.id, chat);
  }
  return { world };
}

function crashScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Parse the bank export') as Chat;
  const question = newMessage(chat.id, 'user', {
    text: 'Sum my spending per category and tell me what grew most since September.',
    attachments: [{ id: 'a' as never, name: 'export-2026-10.csv', bytes: 38_000, tokens: 9604 }],
  });
  const answer = newMessage(chat.id, 'assistant', {
    thinking: 'Sum first.',
    text: 'October comes to 2,184.60 € over 61 payments. Compared with September, three categories moved:\n\n- **Travel** rose from 96.00 € to 412.50 €, almost all of it one rail ticket on 9 October.\n- **Groceries** fell from 388.20 € to 341.75 €.\n- **Energy** rose from 71.40 € to 118.90 €, because the yearly',
    state: {
      status: 'failed',
      failure: {
        code: 'engine-lost',
        message: '[engine] the process ended with signal SIGKILL',
        hint: 'It ran out of memory while another app was taking 4.1 GB.',
      },
    },
    timings: { ...timings, firstTokenMs: 4310, thinkingMs: 11_200, tokensPerSecond: 41.7 },
    usage: { promptTokens: 10_122, cachedTokens: 0, thinkingTokens: 0, answerTokens: 173 },
  });
  const scene = put(world, chat, [question, answer]);
  return { ...scene, after: () => setTimeout(() => useEngine.setState({ restarted: true }), 300) };
}

function overflowScene(): Scene {
  const { world, chats } = worldOfMocks();
  world.measure = { used: 29_800, draft: 6400, limit: 32_768 };
  world.plan = {
    trim: { upTo: 'none' as Message['id'], turns: 6, frees: 8100, seconds: null },
    summary: { upTo: 'none' as Message['id'], turns: 14, frees: 17_000, seconds: 20 },
  };
  const chat = chats.get('Thesis notes') as Chat;
  const answer = newMessage(chat.id, 'assistant', {
    text: 'Chapter 2 now carries two arguments at once. The historical one, that the notation came before the theory, holds well on its own and could open the thesis.\n\nThe second needs the data of chapter 4, so readers meet it too early. Moving it would also solve the problem with the length of the introduction, which is now at 31 pages.\n\n1. Open with the history and end it at the first printed table.\n2. Move the measurement argument behind the data.\n3. Shorten the introduction to what chapter 2 does not say.',
    timings,
    usage,
  });
  const scene = put(
    world,
    { ...chat, draft: 'Here is the new draft of chapter 3. Check it against everything we decided so far.' },
    [answer],
  );
  return {
    ...scene,
    after: () =>
      setTimeout(
        () =>
          useChat
            .getState()
            .setOverlay({ kind: 'overflow', chatId: chat.id, used: 29_800, draft: 6400, limit: 32_768, resumes: null }),
        600,
      ),
  };
}

const circle: LoopEvidence = {
  where: 'thinking',
  kind: 'exact',
  text: 'But maybe Cem and Dana could swap. If Cem is at 3, Dana is at 6. If Cem is at 6, Dana is at 3. Either way they are opposite. Let me check Bo again. ',
  copies: 7,
  period: 41,
  first: 1373,
  last: 1659,
  spentTokens: 246,
  savedTokens: 6532,
  times: 1,
};

function loopScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Round table puzzle') as Chat;
  world.settings.showThinking = 'open';
  world.settings.loopGuard = { ...world.settings.loopGuard, waitSeconds: 0 };
  const question = newMessage(chat.id, 'user', {
    text: 'Six guests sit at a round table. Ada must not sit next to Bo. Cem sits opposite Dana. Eli is two seats to the left of Ada. Who sits on Ada’s right?',
  });
  const answer = newMessage(chat.id, 'assistant', {
    thinking:
      'Number the seats 1 to 6 and put Ada at 1. Two seats to her left is 5, so Eli is at 5. The opposite pairs are 1 and 4, 2 and 5, 3 and 6. Ada and Eli break the first two, so Cem and Dana take 3 and 6 in some order.\n\nSeats 2 and 4 are left for Bo and Fay. Seat 2 touches Ada. Bo must not touch Ada, so Bo is at 4 and Fay at 2.\n\nBefore answering, check that the order of Cem and Dana cannot matter.',
    state: { status: 'paused', turnId: 'turn' as never, evidence: circle },
    loops: [circle],
  });
  const scene = put(world, chat, [question, answer]);
  world.samples.set(
    answer.id,
    Array.from({ length: 120 }, (_, at) => ({
      atMs: 400 + 300 * (at + 1),
      phase: 'thinking' as const,
      tokensPerSecond: 46 + 3 * Math.sin(at * 0.31) * Math.cos(at * 0.07),
      tokens: Math.round((1660 * (at + 1)) / 120),
      memoryBytes: 5.9 * 2 ** 30,
    })),
  );
  return scene;
}

function speedScene(): Scene {
  const scene = chatScene();
  for (const [id, all] of scene.world.samples) {
    const phased = all.map((sample, index) => ({
      ...sample,
      phase: index < 4 ? ('prefill' as const) : index < 22 ? ('thinking' as const) : ('answer' as const),
      memoryBytes: (5.6 + 0.5 * Math.sqrt(index / 60)) * 2 ** 30,
    }));
    scene.world.samples.set(id, phased);
  }
  return scene;
}

const asAnswers = (texts: readonly string[]): Scene => {
  const { world } = worldOfMocks();
  const chat = newChat({ title: '<img src=x onerror=window.attacked=1>' });
  const turns = texts.map((text) => [
    newMessage(chat.id, 'user', { text: text.slice(0, 200) }),
    newMessage(chat.id, 'assistant', { text, thinking: text.slice(0, 200) }),
  ]);
  return put(world, chat, turns.flat());
};

/** What costs more than it says: a line of a megabyte, deep nesting, thousands of marks, broken and endless formulas. */
const heavy: readonly string[] = [
  'x'.repeat(1_000_000),
  `${'> '.repeat(5000)}deep`,
  '['.repeat(12_000),
  '*'.repeat(12_000),
  Array.from({ length: 400 }, (_, depth) => `${'  '.repeat(depth)}- level`).join('\n'),
  '\\[ \\frac{1}{ \\]\n\n$\\notacommand{x}$ and \\(\\begin{matrix}\\)',
  '$$\n\\def\\x{\\x\\x}\\x\n$$',
];

/** Seven engine versions, one of them slower, and some benchmarks. */
const curveOf = (speed: number): Run['curve'] =>
  Array.from({ length: 60 }, (_, at) => [
    Math.round(18_500 / speed) + at * 400,
    speed + 4 * Math.sin(at * 0.7 + speed) * Math.cos(at * 0.23),
  ]);

/** `long`: a name that wants more room than there is, and every benchmark marked. */
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
  };
  return { ...scene, after: () => setTimeout(() => useChat.setState({ live: new Map([[answer.id, live]]) }), 400) };
}

/** A message of a kind that no core sends. */
function brokenScene(): Scene {
  const scene = crashScene();
  for (const [id, message] of scene.world.messages) {
    if (message.role === 'user') scene.world.messages.set(id, { ...message, attachments: null as never });
  }
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
  many: manyScene,
  overflow: overflowScene,
  loop: loopScene,
  speed: speedScene,
  performance: () => performanceScene(),
  'performance-long': () => performanceScene(true),
  attacks: () => asAnswers(attacks),
  heavy: () => asAnswers(heavy),
  long: () => longScene(100),
  thinking: thinkingScene,
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
