// What tests of models being made have in common: the state as it changes, and processes that end early.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { converterByFork } from '../../../app/conversion/process/fork-converter.ts';
import type { StartConverter } from '../../../app/conversion/process/messages.ts';
import { pipeToChild } from '../../../app/process/transport.ts';
import { type Client, failureOf, type Shrinking } from '../../../app/protocol/index.ts';
import { places } from '../core/core.ts';

export const inLibrary = (dataFolder: string) =>
  readdirSync(join(dataFolder, 'models'), { recursive: true, encoding: 'utf8' });
export const models = async (client: Client) => (await client.call('models.list')).map(({ name }) => name);
export const refusal = async (work: Promise<unknown>) => {
  const { code, details } = await work.then(
    () => ({ code: 'nothing', details: undefined }),
    (error) => failureOf(error),
  );
  return { code, reason: details?.reason };
};

export function follow(client: Client) {
  const states: (Shrinking | null)[] = [];
  client.on('model.shrinking', (state) => states.push(state));
  const wait = (fits: (state: Shrinking | null | undefined) => boolean) =>
    vi.waitFor(() => expect(fits(states.at(-1))).toBe(true), { timeout: 60_000, interval: 5 });
  return {
    states,
    reached: (phase: string) => wait((state) => state?.status === 'running' && state.phase === phase),
    async ended() {
      await wait((state) => state !== undefined && state?.status !== 'running');
      return states.at(-1);
    },
  };
}

/** The process as the app starts it, which a test can kill. */
export function killable() {
  const start = converterByFork(places);
  let kill = () => {};
  const startConverter: StartConverter = async () => {
    const process = await start();
    kill = process.kill;
    return process;
  };
  return { startConverter, kill: () => kill() };
}

/** The process as a shell starts it after `setup`, or as another user. */
export const startedBy =
  (setup: string, options: { uid?: number } = {}): StartConverter =>
  async () => {
    const command = [process.execPath, places.converter, places.addon, join(places.resources, 'help'), places.worker];
    const child = spawn('sh', ['-c', `${setup}; exec "$@"`, 'sh', ...command], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      ...options,
    });
    const ended = new Promise<{ how: string; lastWords: string }>((resolve) =>
      child.once('exit', (code) => resolve({ how: `code ${code}`, lastWords: '' })),
    );
    return { pipe: pipeToChild(child), kill: () => void child.kill('SIGKILL'), ended };
  };
