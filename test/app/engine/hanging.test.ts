import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import { createHeartbeat } from '../../../app/engine/client/heartbeat.ts';
import type { EngineStatus } from '../../../app/protocol/index.ts';
import { listen, newFolder, next, places, root, startCore } from '../../support/core/core.ts';

//  An engine process that hangs, for real: its event loop does not turn, a native thread never returns, or the system has stopped
//  the process. Whoever waits is told, and the next question is answered by a new process.

vi.setConfig({ testTimeout: 90_000 });

/** Five seconds: a process that is being started beside other work is silent for two. */
const beats = { everyMs: 50, unanswered: 100, still: 100, stillLoading: 100 };

/** `hangs`: "generate native", "load script" …; null: the engine as it is. */
async function start(hangs: string | null) {
  const dataFolder = newFolder();
  vi.stubEnv('LONGHAND_REAL_ADDON', places.addon);
  vi.stubEnv('LONGHAND_HANGS', hangs ?? '');
  vi.stubEnv('LONGHAND_HUNG', join(newFolder(), 'hung'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const quiet = await startCore({ dataFolder });
  await quiet.client.call('settings.set', { loadOnStart: false });
  await quiet.host.close();
  const addon = join(root, 'test/support/processes/hanging-addon.cjs');
  const { client, host } = await startCore({
    dataFolder,
    startEngine: engineByFork(places.engine, { ...places, addon }),
    heartbeat: beats,
  });
  const { id: chatId } = await client.call('chats.create', { modelId: 'starter' as never });
  await client.call('chats.update', { chatId, sampling: { maxTokens: 4, temperature: 0 } });
  const { end } = listen(client);
  const ask = async () => end((await client.call('turns.send', { chatId, text: 'Hello!' })).turnId);
  return { client, host, ask };
}

const hung = { code: 'engine-lost', message: expect.stringContaining('hung'), details: { reason: 'hung' } };

for (const hangs of ['generate native', 'generate script', 'load native', 'load script']) {
  test(`a turn fails with a sentence when the engine hangs (${hangs}), and the next one is answered`, async () => {
    const { ask } = await start(hangs);
    expect(await ask()).toMatchObject({ type: 'failed', failure: hung });
    expect(await ask()).toMatchObject({ type: 'finished', reason: 'length' });
  });
}

test('a model that hangs while it is loaded is not loaded again by itself', async () => {
  const { client } = await start('load native');
  const seen: EngineStatus[] = [];
  client.on('engine.status', (status) => seen.push(status));
  const idle = next(
    client,
    'engine.status',
    ({ phase }) => phase === 'idle' && seen.some((one) => one.phase === 'restarting'),
  );
  await expect(client.call('models.load', { modelId: 'starter' as never })).rejects.toMatchObject(hung);
  await idle;
  await client.call('engine.devices');
  expect(seen.filter(({ phase }) => phase === 'loading')).toHaveLength(1);
  await client.call('models.load', { modelId: 'starter' as never });
});

test.skipIf(process.platform !== 'linux')('a process that the system has stopped is ended, and replaced', async () => {
  const { ask } = await start(null);
  expect(await ask()).toMatchObject({ type: 'finished' });
  const pid = engineProcess();
  process.kill(pid, 'SIGSTOP');
  expect(await ask()).toMatchObject({ type: 'failed', failure: hung });
  expect(await ask()).toMatchObject({ type: 'finished' });
  expect(engineProcess()).not.toBe(pid);
});

/** The child of this process that runs the engine. */
function engineProcess(): number {
  const found = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
      return Number(parent) === process.pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(places.engine);
    } catch {
      return false; // it has just ended
    }
  });
  expect(found).toHaveLength(1);
  return Number(found[0]);
}

test('an engine that works is left alone: it steps, it loads, or nothing runs', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const said: string[] = [];
  let steps = 0;
  let doing = { running: 1, loading: false };
  const limits = { everyMs: 1000, unanswered: 3, still: 4, stillLoading: 8 };
  const heartbeat = createHeartbeat(
    () => heartbeat.answered({ ...doing, steps }),
    (seen) => said.push(seen),
    limits,
  );
  heartbeat.needed(true);
  for (let at = 0; at < 20; at++) {
    if (at % 3 === 0) steps++;
    vi.advanceTimersByTime(1000);
  }
  doing = { running: 0, loading: false };
  vi.advanceTimersByTime(100_000);
  doing = { running: 1, loading: true };
  vi.advanceTimersByTime(7000);
  expect(said).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(said).toEqual(['native work without a step for 8 s']);
  vi.advanceTimersByTime(100_000);
  expect(said).toHaveLength(1);
});

test('nobody is watched over while nobody waits', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [said, asked]: [string[], number[]] = [[], []];
  const heartbeat = createHeartbeat(
    () => asked.push(0),
    (seen) => said.push(seen),
    { everyMs: 1000, unanswered: 3 },
  );
  heartbeat.needed(true);
  vi.advanceTimersByTime(3000);
  heartbeat.needed(false);
  vi.advanceTimersByTime(100_000);
  expect([said.length, asked.length]).toEqual([0, 3]);
  heartbeat.needed(true);
  vi.advanceTimersByTime(4000);
  expect(said).toEqual(['no answer for 3 s']);
});
