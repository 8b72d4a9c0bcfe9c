// A question for an engine, without an app around it.
import type { Generation } from '../../../app/engine/ipc-protocol.ts';
import type { ModelId, TurnId } from '../../../app/protocol/index.ts';

/** Greedy, of at most five tokens, unless `more` says otherwise. */
export const generationOf = (
  turnId: string,
  target: { modelId: string; path: string; remote?: NonNullable<Generation['target']['remote']> },
  text: string,
  more: Partial<Generation['sampling']> = {},
): Generation => ({
  turnId: turnId as TurnId,
  chatId: null,
  priority: 'chat',
  target: {
    ...target,
    modelId: target.modelId as ModelId,
    ...{ device: null, threads: null, contextLength: null, template: null, kvType: 'f16', packed: null },
    ...{ cacheBytes: 0, cacheDisk: null },
  },
  prompt: { messages: [{ role: 'user', text, thinking: '', ids: null }], thinking: false, continuation: null },
  sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 7, maxTokens: 5, ...more },
  stops: [],
  thinkingBudget: { tokens: null, seconds: null },
  loopGuard: null,
});
