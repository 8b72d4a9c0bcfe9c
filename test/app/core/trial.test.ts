// Two models side by side, on the real engine and the built-in model.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { StartEngine } from '../../../app/engine/ipc-protocol.ts';
import { type Client, failureOf, type ModelId, STARTER, type Trial } from '../../../app/protocol/index.ts';
import { readingLlama } from '../../support/conversion/reading-llama.ts';
import { newFolder, realEngine, startCore } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

async function twoModels(options: Parameters<typeof startCore>[0] = {}) {
  const core = await startCore(options);
  const folder = join(newFolder(), 'Copy');
  cpSync(starter, folder, { recursive: true });
  const { id } = await core.client.call('models.import', { path: folder });
  return { ...core, pair: [STARTER, id] satisfies [ModelId, ModelId] as [ModelId, ModelId] };
}

function follow(client: Client) {
  const states: Trial[] = [];
  client.on('trial', (state) => states.push(structuredClone(state)));
  const wait = (fits: (state: Trial) => boolean) =>
    vi.waitFor(() => expect(states.some(fits)).toBe(true), { timeout: 60_000, interval: 5 });
  return {
    states,
    wait,
    async ended(prompt: string) {
      const over = ({ prompt: own, sides }: Trial) =>
        own === prompt && sides.every(({ status }) => ['done', 'stopped', 'failed'].includes(status));
      await wait(over);
      return (states.find(over) as Trial).sides;
    },
  };
}

test('both answer, one after the other; the same model says the same; nothing is kept', {
  timeout: 120_000,
}, async () => {
  const { client, pair } = await twoModels();
  const { states, ended } = follow(client);
  await client.call('trial.start', { modelIds: pair, prompt: ' Hello! Who are you? ' });
  const [left, right] = await ended('Hello! Who are you?');
  expect([left.name, right.name]).toEqual(['Starter', 'Copy']);
  expect(left).toMatchObject({ status: 'done', cut: false, failure: null });
  expect(left.text.length).toBeGreaterThan(5);
  expect(right.text).toBe(left.text);
  expect(right.tokensPerSecond).toBeGreaterThan(0);
  for (const { sides } of states) if (sides[1].status !== 'waiting') expect(sides[0].status).toBe('done');
  expect(await client.call('chats.list', {})).toEqual([]);
});

test('stopped, neither answers further, and a new one can begin at once', { timeout: 120_000 }, async () => {
  const { client, pair } = await twoModels();
  const { states, wait, ended } = follow(client);
  await client.call('trial.start', { modelIds: pair, prompt: 'One' });
  await wait(({ sides }) => sides[0].status === 'reading');
  await client.call('trial.stop');
  expect((await ended('One')).map(({ status }) => status)).toEqual(['stopped', 'stopped']);

  await client.call('trial.start', { modelIds: pair, prompt: 'Two' });
  await client.call('trial.start', { modelIds: pair, prompt: 'Three' });
  expect((await ended('Three')).map(({ status }) => status)).toEqual(['done', 'done']);
  // Of the second nothing is told once the third has begun.
  const third = states.findIndex(({ prompt }) => prompt === 'Three');
  expect(states.slice(third).every(({ prompt }) => prompt === 'Three')).toBe(true);
});

test('what one model cannot do is told on its side; the other answers all the same', { timeout: 120_000 }, async () => {
  const { client } = await startCore();
  // It was never trained to chat, and has no template.
  const { id } = await client.call('models.import', { path: await readingLlama(newFolder()) });
  const { ended } = follow(client);
  await client.call('trial.start', { modelIds: [id, STARTER], prompt: 'Hello!' });
  const [left, right] = await ended('Hello!');
  expect(left.status === 'failed' ? left.failure?.code : left.status).toBe('template-failed');
  expect(right.status).toBe('done');
});

test('the engine is killed under the first: that is told there, and the second is answered by the next engine', {
  timeout: 120_000,
}, async () => {
  const start = realEngine();
  let kill = () => {};
  const startEngine: StartEngine = async (...given) => {
    const process = await start(...given);
    kill = process.kill;
    return process;
  };
  const { client, pair } = await twoModels({ startEngine });
  const { wait, ended } = follow(client);
  await client.call('trial.start', { modelIds: pair, prompt: 'Hello!' });
  await wait(({ sides }) => sides[0].status === 'reading');
  kill();
  const [left, right] = await ended('Hello!');
  expect(left).toMatchObject({ status: 'failed', failure: { code: 'engine-lost' } });
  expect(right.status).toBe('done');
});

test('a model that is not there, or an empty prompt, is refused before anything begins', {
  timeout: 60_000,
}, async () => {
  const { client } = await startCore();
  const nobody = '01890a5d-ac96-774b-bcce-b302099a8057' as ModelId;
  const { states } = follow(client);
  const refused = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error) => failureOf(error).code,
    );
  expect(await refused(client.call('trial.start', { modelIds: [STARTER, nobody], prompt: 'Hello!' }))).not.toBeNull();
  expect(await refused(client.call('trial.start', { modelIds: [STARTER, STARTER], prompt: '  ' }))).toBe('bad-request');
  // Its folder has gone since it was last looked at.
  const folder = join(newFolder(), 'Copy');
  cpSync(starter, folder, { recursive: true });
  const { id } = await client.call('models.import', { path: folder });
  rmSync(folder, { recursive: true });
  expect(await refused(client.call('trial.start', { modelIds: [STARTER, id], prompt: 'Hello!' }))).toBe(
    'model-missing',
  );
  await client.call('trial.stop');
  expect(states).toEqual([]);
});
