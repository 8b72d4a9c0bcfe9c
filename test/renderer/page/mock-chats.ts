import type { Chat, Message, StatsSample } from '../../../app/protocol/index.ts';
import { createWorld, newChat, type World } from '../../support/fakes/world.ts';
import type { Scene } from './model-scenes.ts';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

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

export function worldOfMocks(): { world: World; chats: Map<string, Chat> } {
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

export const samples = (count: number): StatsSample[] =>
  Array.from({ length: count }, (_, index) => ({
    atMs: index * 100,
    phase: 'answer',
    tokensPerSecond: 46 + 5 * Math.sin(index * 1.7) * Math.cos(index * 0.6) - 12 * Math.exp(-index / 3),
    tokens: index * 5,
    memoryBytes: null,
  }));

export function put(world: World, chat: Chat, messages: Message[]): Scene {
  let parentId: Message['parentId'] = null;
  for (const message of messages) {
    world.messages.set(message.id, { ...message, parentId });
    world.samples.set(message.id, samples(60));
    parentId = message.id;
  }
  world.chats.set(chat.id, { ...chat, leafId: parentId });
  return { world, open: chat.id };
}

export const ANSWER = `A full-attention layer reads every stored key and value for each new token, so its work grows with the context. A gated linear layer keeps **one matrix of fixed size per head** and folds each token into it:

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

export const timings = {
  firstTokenMs: 420,
  prefillMs: 380,
  decodeMs: 6800,
  thinkingMs: 6800,
  totalMs: 14_000,
  tokensPerSecond: 46.1,
};
export const usage = { promptTokens: 10_122, cachedTokens: 8204, thinkingTokens: 312, answerTokens: 204 };
