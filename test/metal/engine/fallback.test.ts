// The GPU fails in the middle of an answer: that turn fails with a code, and the same engine process answers the next one on
// the CPU and says so, until it is started again.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine, type Engine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { LoadTarget } from '../../../app/engine/ipc-protocol.ts';
import type { EngineStatus, ModelId, TurnEvent, TurnId } from '../../../app/protocol/index.ts';
import { places } from '../../support/core/core.ts';
import { temporaryFolder } from '../../support/models/formats.ts';
import { starter } from '../../support/models/models.ts';
import { needsStandin } from '../standin.ts';

needsStandin();

/** The addon with the stand-in as its best device, and a fault in it. */
const broken = (faults: object) => `
  const addon = require(${JSON.stringify(join(places.addon, '..', 'longhand-metal.node'))});
  addon.standin.faults(${JSON.stringify(faults)});
  const onGpu = { device: 'metal', standin: true };
  module.exports = { ...addon, load: (path, options) => addon.load(path, { ...options, ...(options.device !== 'cpu' && onGpu) }) };
`;

function engineWith(faults: object): { engine: Engine; statuses: EngineStatus[] } {
  const statuses: EngineStatus[] = [];
  const addon = join(temporaryFolder({ 'broken.cjs': broken(faults) }), 'broken.cjs');
  const engine = createEngine({
    startEngine: engineByFork(places.engine, { ...places, addon }),
    onStatus: (status) => statuses.push(status),
  });
  onTestFinished(() => engine.close());
  return { engine, statuses };
}

const target: LoadTarget = {
  modelId: 'starter' as ModelId,
  path: starter,
  device: null,
  threads: null,
  contextLength: 512,
  template: null,
  kvType: 'f16',
  packed: null,
  cacheBytes: 0,
  cacheDisk: null,
};

function answer(engine: Engine, turn: string): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  return new Promise((done) => {
    engine.generate(
      {
        turnId: turn as TurnId,
        chatId: null,
        priority: 'chat',
        target,
        prompt: {
          messages: [{ role: 'user', text: 'Hi', thinking: '', ids: null }],
          thinking: false,
          continuation: null,
        },
        sampling: { temperature: 0, maxTokens: 8 },
        stops: [],
        thinkingBudget: { tokens: null, seconds: null },
        loopGuard: null,
      },
      (updates) => {
        events.push(...updates.map(({ event }) => event));
        if (events.some(({ type }) => type === 'finished' || type === 'failed')) done(events);
      },
    );
  });
}

test('after a GPU fault the CPU answers, and the status says why', { timeout: 240_000 }, async () => {
  const { engine, statuses } = engineWith({ commandBuffer: 4, commandBufferCode: 2 });
  const first = await answer(engine, 'first');
  expect(first[0]).toMatchObject({ type: 'started', backEnd: 'metal' });
  expect(first.at(-1)).toMatchObject({
    type: 'failed',
    failure: { code: 'engine-failed', message: expect.stringContaining('GPU Timeout') },
  });

  const second = await answer(engine, 'second');
  expect(second[0]).toMatchObject({ type: 'started', backEnd: 'cpu' });
  expect(second.at(-1)).toMatchObject({ type: 'finished' });
  await expect
    .poll(() => statuses.at(-1))
    .toMatchObject({
      phase: 'ready',
      backEnd: 'cpu',
      fallbackReason: expect.stringContaining('GPU Timeout'),
    });
});

test('while kernels are compiled in the background the status counts them, and the engine is ready', {
  timeout: 240_000,
}, async () => {
  const { engine, statuses } = engineWith({ holdCompile: 'kernel void attention_combine' });
  await engine.load(target);
  await expect
    .poll(() => statuses.at(-1), { timeout: 120_000 })
    .toMatchObject({
      phase: 'ready',
      backEnd: 'metal',
      compilingKernels: { done: expect.any(Number), total: expect.any(Number) },
    });
  const last = statuses.at(-1);
  const { done, total } = (last?.phase === 'ready' && last.compilingKernels) || { done: 0, total: 0 };
  expect(done).toBeLessThan(total);
});
