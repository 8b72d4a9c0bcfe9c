// What is shown of two models side by side, event by event, from an engine that follows a script; and what a benchmark asks of it.
import { expect, test } from 'vitest';
import { createBenchmarkAsker } from '../../../app/core/benchmark-asker.ts';
import { createTrial } from '../../../app/core/trial.ts';
import type { Generation, TurnUpdate } from '../../../app/engine/ipc-protocol.ts';
import type { ModelId, Trial, TurnEvent, TurnId } from '../../../app/protocol/index.ts';

const timings = { tokensPerSecond: 33 };
const said = (text: string, kind = 'answer') => ({ type: 'delta', kind, text, tokens: 1 });
const finished = (reason = 'stop') => ({ type: 'finished', reason, usage: {}, timings });

function start() {
  const asked: Generation[] = [];
  const hear: ((updates: TurnUpdate[]) => void)[] = [];
  const cancelled: TurnId[] = [];
  const looked: string[] = [];
  const shown: Trial[] = [];
  const options = {
    engine: {
      generate(generation: Generation, onUpdates: (updates: TurnUpdate[]) => void) {
        asked.push(generation);
        hear.push(onUpdates);
      },
      cancel: (turnId: TurnId) => void cancelled.push(turnId),
    },
    models: {
      look: async (id: string) => {
        await Promise.resolve();
        looked.push(id);
      },
      target: (id: string) => {
        if (!looked.includes(id) && id !== 'bench') throw new Error(`${id} was not looked for`);
        return { target: { modelId: id, ...(id === 'far' && { remote: {} }) }, name: `Model ${id}` };
      },
    },
    emit: (_: string, trial: Trial) => shown.push(structuredClone(trial)),
    now: () => Date.now(),
    report: (error: unknown) => {
      throw error;
    },
  };
  const trial = createTrial(options as unknown as Parameters<typeof createTrial>[0]);
  return {
    asked,
    cancelled,
    shown,
    options,
    begin: (a = 'a', b = 'b', prompt = 'Hello') =>
      trial.handlers['trial.start']({ modelIds: [a as ModelId, b as ModelId], prompt }) as Promise<void>,
    stop: () => trial.handlers['trial.stop'](),
    close: trial.close,
    async tell(...events: object[]) {
      hear.at(-1)?.(events.map((event) => ({ event }) as TurnUpdate));
      await new Promise(setImmediate);
    },
    sides: () => shown.at(-1)?.sides.map(({ name, status, text, cut }) => [name, status, text, cut]),
  };
}

test('each side goes from waiting over reading and writing to its end, one after the other, with what it wrote', async () => {
  const { begin, tell, sides, asked, shown } = start();
  await begin();
  expect(sides()).toEqual([
    ['Model a', 'reading', '', false],
    ['Model b', 'waiting', '', false],
  ]);
  await tell({ type: 'started' }, said('Hm.', 'thinking'), said('One '), said('two three'));
  expect(sides()?.[0]).toEqual(['Model a', 'writing', 'One two three', false]);
  await tell({ type: 'retracted', kind: 'thinking', from: 0 }, { type: 'retracted', kind: 'answer', from: 7 });
  expect(sides()?.[0]?.[2]).toBe('One two');
  expect(asked).toHaveLength(1);
  await tell(finished('length'));
  expect(sides()).toEqual([
    ['Model a', 'done', 'One two', true],
    ['Model b', 'reading', '', false],
  ]);
  expect(shown.at(-1)?.sides[0].tokensPerSecond).toBe(33);
  const failure = { code: 'engine-lost', message: '[engine] ended' };
  await tell(said('No'), { type: 'failed', failure });
  expect(shown.at(-1)?.sides[1]).toMatchObject({ modelId: 'b', status: 'failed', text: 'No', failure });
  expect(asked.map(({ target, prompt, sampling }) => [target.modelId, prompt.messages[0]?.text, sampling])).toEqual(
    ['a', 'b'].map((id) => [id, 'Hello', { temperature: 0, maxTokens: 512 }]),
  );
});

test('stopped, the answer that comes is cancelled and the other never asked; so it is when the app closes', async () => {
  for (const by of ['stop', 'close'] as const) {
    const made = start();
    made.stop();
    await made.begin();
    made[by]();
    expect(made.cancelled).toEqual([made.asked[0]?.turnId]);
    await made.tell(finished('cancelled'));
    expect(made.sides()?.map(([, status]) => status)).toEqual(['stopped', 'stopped']);
    expect(made.asked).toHaveLength(1);
  }
});

test('another that begins ends the one before, of which nothing more is shown', async () => {
  const { begin, tell, asked, cancelled, shown } = start();
  await begin('a', 'b', 'First');
  await begin('b', 'a', 'Second');
  expect(cancelled).toEqual([asked[0]?.turnId]);
  expect(shown.map(({ prompt }) => prompt)).toEqual(['First', 'Second']);
  await tell(finished());
  expect(asked.map(({ target }) => target.modelId)).toEqual(['a', 'b', 'a']);
});

test('a model that runs elsewhere is refused on either side, before the one that runs is ended', async () => {
  const { begin, cancelled, shown } = start();
  await begin();
  for (const pair of [
    ['far', 'a'],
    ['a', 'far'],
  ] as const)
    await expect(begin(...pair)).rejects.toMatchObject({
      code: 'model-unsupported',
      message: '[trial] Model far runs elsewhere',
      details: { reason: 'runs-elsewhere' },
    });
  expect([cancelled, shown.length]).toEqual([[], 1]);
});

test('a benchmark hears every event of its answer, and cancels it by its signal', async () => {
  const { options, asked, cancelled, tell } = start();
  const ask = createBenchmarkAsker(options as unknown as Parameters<typeof createBenchmarkAsker>[0]);
  const heard: TurnEvent[] = [];
  const stop = new AbortController();
  const run = { prompt: 'Tell', signal: stop.signal, onEvent: (event: TurnEvent) => heard.push(event) };
  expect(ask({ ...run, modelId: 'bench' as ModelId })).toEqual({ model: 'Model bench' });
  await tell({ type: 'started' }, said('One'), finished());
  expect(heard.map(({ type }) => type)).toEqual(['started', 'delta', 'finished']);
  expect(asked[0]).toMatchObject({ chatId: null, priority: 'chat', prompt: { messages: [{ text: 'Tell' }] } });
  stop.abort();
  expect(cancelled).toEqual([asked[0]?.turnId]);
  await options.models.look('far');
  expect(() => ask({ ...run, modelId: 'far' as ModelId })).toThrow('[benchmark] Model far runs elsewhere');
});
