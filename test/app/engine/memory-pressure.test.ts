import { execFileSync, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen, places, root, startCore, textOf } from '../../support/core/core.ts';
import { realModel } from '../../support/models/real-models.mjs';
import type { Pressed } from '../../support/processes/pressed-process.ts';
import { until } from '../../support/until.ts';

//  The system gives no more memory: a real limit of the address space, set and lifted while the engine runs.

const pressed = (path: string): Promise<Pressed> =>
  new Promise((resolve, reject) => {
    const child = fork(
      join(root, 'test/support/processes/pressed-process.ts'),
      [path, join(places.resources, 'starter-model')],
      {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    );
    child.once('message', (message) => resolve(message as Pressed));
    child.once('exit', (code, signal) => reject(new Error(`the process ended with ${code ?? signal}`)));
  });

test.runIf(platform() === 'linux')(
  'an allocation that fails anywhere in a load or an answer is an error with a sentence, and the next one works',
  async () => {
    const { loads, otherLoads, sessions, answersAfter } = await pressed(await realModel('smollm2'));
    for (const tries of [loads, sessions]) {
      const failed = tries.slice(0, -1);
      expect(failed.length).toBeGreaterThan(2);
      for (const { code, message } of failed) {
        expect(code, message).toBe('memory');
        expect(message).toMatch(/^\[\w+\] .*(cannot be allocated|cannot map|no memory left)/);
      }
    }
    // Failed at the mapping of the file, and behind it.
    expect(new Set(loads.map(({ message }) => message.split(' ', 1)[0])).size).toBeGreaterThan(2);
    expect(otherLoads).toBe(true);
    expect(answersAfter).not.toContain(false);
  },
  240_000,
);

/** The engine process that this process started last. */
const engineProcess = () =>
  Number(execFileSync('pgrep', ['-n', '-P', String(process.pid), '-f', 'engine/process'], { encoding: 'utf8' }));

function leave(pid: number, bytes: number) {
  const held = Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  execFileSync('prlimit', [`--pid=${pid}`, `--as=${held + bytes}:unlimited`]);
}
const leaveEverything = (pid: number) => execFileSync('prlimit', [`--pid=${pid}`, '--as=unlimited:unlimited']);

test.runIf(platform() === 'linux')(
  'an answer without memory fails by name, the model is put away, and the same process answers the next question',
  async () => {
    const { client } = await startCore();
    const { of, end } = listen(client);
    const { id: modelId } = await client.call('models.import', { path: await realModel('smollm2') });
    await client.call('models.load', { modelId });
    const ask = async (text: string) => {
      const chat = await client.call('chats.create', { modelId });
      await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 4, temperature: 0 } });
      return (await client.call('turns.send', { chatId: chat.id, text })).turnId;
    };

    const pid = engineProcess();
    // The keys and values of the prompt take 84 MB; the young generation of V8 may grow by 16 meanwhile, which must not fail.
    leave(pid, 48 * 2 ** 20);
    const long = await ask('A long text. '.repeat(1200));
    expect(await end(long)).toMatchObject({ type: 'failed', failure: { code: 'out-of-memory' } });
    const status = await until(
      () => client.call('engine.status'),
      ({ phase }) => phase !== 'busy',
    );
    expect(status).toEqual({ phase: 'idle' });

    leaveEverything(pid);
    const short = await ask('Hello!');
    expect(await end(short)).toMatchObject({ type: 'finished' });
    expect(textOf(of(short), 'answer')).not.toBe('');
    expect(engineProcess()).toBe(pid);
  },
  120_000,
);
