// Random trees of prompts, as chats grow, are edited, regenerated and branched. Every answer of a model with a prompt cache is
// compared with that of a model without one, which reads everything again.
import { expect } from 'vitest';
import type { GenerateResult, Model, NumericPath, Session, TokenEvent } from '../../../native/addon/index.d.ts';
import { someTokens } from './models.ts';

/** The token that ends a message in these chats. */
export const END = 2;

export type Tree = {
  /** A session of the model with the cache. */
  warm: Model;
  /** The model without it, loaded from the same files. */
  cold: Model;
  path: NumericPath;
  /** The cache budgets, used in turn. */
  budgets: readonly number[];
  contextLength: number;
  /** The length of the longest message, in tokens. */
  longest: number;
  seed: number;
};

export type Walk = {
  operations: number;
  /** Tokens of all prompts, and how many of them came from the cache. */
  prompted: number;
  cached: number;
  reasons: Set<string>;
};

/** Numbers below `most`, the same for the same seed. */
export function dice(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const numbers = (events: readonly TokenEvent[]) => events.map(({ id, logprob, top }) => ({ id, logprob, top }));

async function answered(session: Session, prompt: Int32Array, path: NumericPath, maxTokens: number) {
  const events: TokenEvent[] = [];
  const result = await session.generate(prompt, {
    maxTokens,
    path,
    stopTokens: [END],
    logprobs: 3,
    onTokens: (tokens) => events.push(...tokens),
  });
  return { result, events: numbers(events) };
}

export const statesOf = async (session: Session): Promise<Float32Array[]> =>
  (await session.states()).map(({ data }) => data);

/** Takes `operations` steps. Throws if an answer or a state differs in a single bit. */
export async function walk(tree: Tree, operations: number): Promise<Walk> {
  const { warm, cold, path, budgets, contextLength, longest } = tree;
  const roll = dice(tree.seed);
  const options = { path, contextLength };
  const sessions = [warm.createSession(options), warm.createSession(options)];
  const out: Walk = { operations: 0, prompted: 0, cached: 0, reasons: new Set() };
  const message = () => [...someTokens(1 + roll(longest), 1 + roll(1e6)), END];
  const system = message();
  const chats: number[][] = [[...system, ...message()]];
  warm.setPromptCache(budgets[0] ?? 0);

  for (; out.operations < operations; out.operations++) {
    const which = roll(chats.length);
    let chat = chats[which] as number[];
    const session = sessions[roll(sessions.length)] as Session;
    const ends = chat.flatMap((token, at) => (token === END ? [at + 1] : []));
    const what = roll(10);
    if (what < 3) chat = [...chat, ...message()];
    else if (what === 3) chat = [...chat.slice(0, ends[roll(ends.length)]), ...message()];
    else if (what === 4) chats.push([...chat.slice(0, ends[roll(ends.length)]), ...message()]);
    else if (what === 5) chats.push([...(roll(2) ? system : message()), ...message()]);
    else if (what === 6) await session.read(Int32Array.from(chat), { path, stopTokens: [END] });
    else if (what === 7) await stopped(warm, session, chat, path, roll);
    else if (what === 8) warm.setPromptCache(budgets[roll(budgets.length)] ?? 0);
    if (what === 9 && budgets.length > 1 && roll(8) === 0) await warm.clearPromptCache();
    // Otherwise the same prompt again.
    if (chat.length > contextLength - 16) chat = [...system, ...message()];
    chats[which] = chat;
    if (chats.length > 6) chats.splice(roll(chats.length - 1), 1);

    const prompt = Int32Array.from([...chat, 5]);
    const maxTokens = 1 + roll(4);
    const fresh = cold.createSession(options);
    const [here, there] = [
      await answered(session, prompt, path, maxTokens),
      await answered(fresh, prompt, path, maxTokens),
    ];
    const where = `operation ${out.operations}, seed ${tree.seed}, ${prompt.length} tokens`;
    expect(here.events, where).toEqual(there.events);
    expect(await statesOf(session), where).toEqual(await statesOf(fresh));
    fresh.close();
    expect(told(here.result), where).toBe(true);
    if (budgets.length === 1) expect(readAgain(here.result), where).toBeLessThanOrEqual(512);
    expect(warm.promptCache().bytes).toBeLessThanOrEqual(Math.max(...budgets));
    out.prompted += prompt.length;
    out.cached += here.result.timings.cachedTokens;
    out.reasons.add(here.result.reuse.reason);
    if (roll(2)) chats[which] = [...chat, ...here.result.tokens.filter((id) => id !== END), END];
  }
  for (const session of sessions) session.close();
  return out;
}

/** A prefill that is cancelled somewhere. */
async function stopped(
  warm: Model,
  session: Session,
  chat: readonly number[],
  path: NumericPath,
  roll: (most: number) => number,
): Promise<void> {
  const { AbortFlag } = (await import('../addon.ts')).addon;
  const signal = new AbortFlag();
  const at = roll(chat.length);
  const prompt = Int32Array.from([...chat, ...someTokens(1 + roll(600), roll(1e6)), END, 5]);
  if (prompt.length >= session.contextLength) return;
  await session.generate(prompt, {
    maxTokens: 4,
    path,
    stopTokens: [END],
    signal,
    onPrefill: (done) => {
      if (done >= at) signal.set();
    },
  });
  expect(warm.promptCache().bytes).toBeGreaterThanOrEqual(0);
}

/** Cached tokens that were read again. Those cached only for the other attention regime do not count. */
export const readAgain = ({ reuse }: Pick<GenerateResult, 'reuse'>): number =>
  reuse.reason === 'path' ? 0 : Math.max(0, Math.min(reuse.known, reuse.requested - 1) - reuse.tokens);

/** Asserts that a reason is given exactly where something was read again. */
function told({ reuse }: Pick<GenerateResult, 'reuse'>): boolean {
  if (reuse.reason === 'path') return true;
  if (readAgain({ reuse }) === 0) return reuse.reason === (reuse.known > 0 ? 'nothing' : 'cold');
  return reuse.reason !== 'nothing' && reuse.reason !== 'cold';
}
