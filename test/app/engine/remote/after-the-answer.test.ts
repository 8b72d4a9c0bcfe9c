// What stays of an answer of a remote engine.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Engine } from '../../../../app/engine/client/engine-client.ts';
import { createGenerationService } from '../../../../app/engine/client/generation-service.ts';
import type { Generation } from '../../../../app/engine/ipc-protocol.ts';
import type { ModelId, RemoteEngineId, TurnId } from '../../../../app/protocol/index.ts';

const generationOf = (turnId: string): Generation => ({
  turnId: turnId as TurnId,
  chatId: null,
  priority: 'chat',
  target: {
    modelId: 'far' as ModelId,
    path: '',
    device: null,
    threads: null,
    contextLength: null,
    template: null,
    kvType: 'f16',
    packed: null,
    cacheBytes: 0,
    cacheDisk: null,
    remote: { engineId: 'one' as RemoteEngineId, model: 'far', contextLength: null },
  },
  prompt: {
    messages: [{ role: 'user', text: 'A long question.', thinking: '', ids: null }],
    thinking: false,
    continuation: null,
  },
  sampling: { temperature: 0, topK: 0, topP: 1, minP: 0, seed: 7, maxTokens: 5 },
  stops: [],
  thinkingBudget: { tokens: null, seconds: null },
  loopGuard: null,
});

test('its prompt does not stay in memory when it has ended', async () => {
  const service = createGenerationService({
    local: {} as Engine,
    reach: () => Promise.reject(new Error('the engine was removed')),
    urlOf: () => Promise.reject(new Error('no pictures')),
    report: () => {},
  });
  const answered = async (turnId: string) => {
    const generation = generationOf(turnId);
    await new Promise<void>((ended) => {
      service.generate(generation, (updates) => {
        if (updates.some(({ event }) => event.type === 'failed')) ended();
      });
    });
    return new WeakRef(generation);
  };
  const held = [await answered('first'), await answered('second')];
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  await expect
    .poll(() => {
      collect();
      return held.filter((one) => one.deref() !== undefined).length;
    })
    .toBe(0);
  service.close();
});
