import type { Chat, LoopEvidence, Message, Run, TurnId } from '../../../app/protocol/index.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { useEngine } from '../../../renderer/stores/engine.ts';
import { createWorld, newChat, newMessage } from '../../support/fakes/world.ts';
import { ANSWER, put, timings, usage, worldOfMocks } from './mock-chats.ts';
import type { Scene } from './model-scenes.ts';

export function chatScene(): Scene {
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
export function branchesScene(): Scene {
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
export function manyScene(): Scene {
  const world = createWorld();
  const now = Date.now();
  for (let at = 1; at <= 1000; at++) {
    const title = at === 3 ? 'شكرا جزيلا على الرسالة' : at === 4 ? '👨‍👩‍👧'.repeat(60) : `Chat ${at}`;
    const chat = newChat({ title, titleSource: 'user', updatedAt: now - at });
    world.chats.set(chat.id, chat);
  }
  return { world };
}

export function crashScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Parse the bank export') as Chat;
  const question = newMessage(chat.id, 'user', {
    text: 'Sum my spending per category and tell me what grew most since September.',
    attachments: [{ id: 'a' as never, name: 'export-2026-10.csv', bytes: 38_000, tokens: 9604, picture: null }],
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

export function overflowScene(): Scene {
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
  repeats: 7,
  periodTokens: 41,
  startToken: 1373,
  endToken: 1659,
  spentTokens: 246,
  savedTokens: 6532,
  times: 1,
};

export function loopScene(): Scene {
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

export function speedScene(): Scene {
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

export const asAnswers = (texts: readonly string[]): Scene => {
  const { world } = worldOfMocks();
  const chat = newChat({ title: '<img src=x onerror=window.attacked=1>' });
  const turns = texts.map((text) => [
    newMessage(chat.id, 'user', { text: text.slice(0, 200) }),
    newMessage(chat.id, 'assistant', { text, thinking: text.slice(0, 200) }),
  ]);
  return put(world, chat, turns.flat());
};

/** What costs more than it says: a line of a megabyte, deep nesting, thousands of marks, broken and endless formulas. */
export const heavy: readonly string[] = [
  'x'.repeat(1_000_000),
  `${'> '.repeat(5000)}deep`,
  '['.repeat(12_000),
  '*'.repeat(12_000),
  Array.from({ length: 400 }, (_, depth) => `${'  '.repeat(depth)}- level`).join('\n'),
  '\\[ \\frac{1}{ \\]\n\n$\\notacommand{x}$ and \\(\\begin{matrix}\\)',
  '$$\n\\def\\x{\\x\\x}\\x\n$$',
];

/** Seven engine versions, one of them slower, and some benchmarks. */
export const curveOf = (speed: number): Run['curve'] =>
  Array.from({ length: 60 }, (_, at) => [
    Math.round(18_500 / speed) + at * 400,
    speed + 4 * Math.sin(at * 0.7 + speed) * Math.cos(at * 0.23),
  ]);

/** `long`: a name that wants more room than there is, and every benchmark marked. */
