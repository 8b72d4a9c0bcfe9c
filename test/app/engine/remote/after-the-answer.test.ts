// What stays of an answer of a remote engine.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Engine } from '../../../../app/engine/client/engine-client.ts';
import { createGenerationService } from '../../../../app/engine/client/generation-service.ts';
import type { RemoteEngineId } from '../../../../app/protocol/index.ts';
import { generationOf } from '../../../support/core/generation.ts';

const far = {
  modelId: 'far',
  path: '',
  remote: { engineId: 'one' as RemoteEngineId, model: 'far', contextLength: null },
};

test('its prompt does not stay in memory when it has ended', async () => {
  const service = createGenerationService({
    local: {} as Engine,
    reach: () => Promise.reject(new Error('the engine was removed')),
    urlOf: () => Promise.reject(new Error('no pictures')),
    report: () => {},
  });
  const answered = async (turnId: string) => {
    const generation = generationOf(turnId, far, 'A long question.');
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
