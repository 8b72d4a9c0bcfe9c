import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EngineProcess, FromEngine, ToEngine } from '../../../app/engine/ipc-protocol.ts';
import {
  createSupervisor,
  type Ending,
  listenToErrors,
  type SupervisorStatus,
} from '../../../app/process/supervisor.ts';
import type { Failure } from '../../../app/protocol/index.ts';
import { pipePair } from '../../../app/protocol/index.ts';

/** Processes that start and end when the test says so. Counts how many live at once. */
function controlled(options: { endsOnKill?: boolean; obeysQuit?: boolean } = {}) {
  const { endsOnKill = true, obeysQuit = true } = options;
  const log = { started: 0, living: 0, maxLiving: 0, killed: 0 };
  let end = () => {};
  const startEngine = async (): Promise<EngineProcess> => {
    log.started++;
    log.living++;
    log.maxLiving = Math.max(log.maxLiving, log.living);
    const [pipe, its] = pipePair<ToEngine, FromEngine>();
    const ended = new Promise<Ending>((resolve) => {
      let alive = true;
      end = () => {
        if (alive) log.living--;
        alive = false;
        resolve({ how: 'signal SIGSEGV', lastWords: 'bad access' });
      };
    });
    const mine = end;
    its.onMessage((message) => {
      if ('quit' in message && obeysQuit) mine();
    });
    return {
      pipe,
      ended,
      kill() {
        log.killed++;
        if (endsOnKill) mine();
      },
    };
  };
  return { log, startEngine, crash: () => end() };
}

function supervise(processes: ReturnType<typeof controlled>, now?: () => number) {
  const seen: SupervisorStatus[] = [];
  const supervisor = createSupervisor<ToEngine, FromEngine>({
    start: processes.startEngine,
    quit: { quit: true },
    onStatus: (status) => seen.push(status),
    onMessage: () => {},
    onLost: () => {},
    waits: [5, 20, 80],
    quitWaitMs: 50,
    ...(now && { now }),
  });
  const until = async (fits: () => boolean) => {
    while (!fits()) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  return { supervisor, seen, until };
}

test('a process that ends comes back after growing waits; the third end in five minutes is the last', async () => {
  const processes = controlled();
  const { supervisor, seen, until } = supervise(processes);
  supervisor.start();
  for (let ends = 1; ends <= 3; ends++) {
    await until(() => processes.log.started === ends && seen.at(-1)?.phase === 'up');
    processes.crash();
  }
  await until(() => seen.at(-1)?.phase === 'stopped');
  expect(seen.at(-1)).toMatchObject({
    failure: { message: expect.stringContaining('SIGSEGV'), details: { lastWords: 'bad access' } },
  });
  expect(seen.flatMap((status) => (status.phase === 'restarting' ? [status.waitMs] : []))).toEqual([5, 20]);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(processes.log.started).toBe(3);

  await supervisor.restart();
  await until(() => seen.at(-1)?.phase === 'up');
  expect(processes.log.maxLiving).toBe(1);
});

test('a failure names the process that ended', async () => {
  const processes = controlled();
  const lost: Failure[] = [];
  const supervisor = createSupervisor<ToEngine, FromEngine>({
    start: processes.startEngine,
    name: 'core',
    quit: { quit: true },
    onStatus: (status) => status.phase === 'up' && processes.crash(),
    onMessage: () => {},
    onLost: (failure) => lost.push(failure),
    waits: [1],
  });
  supervisor.start();
  await expect.poll(() => lost.length).toBe(3);
  expect(lost[0]).toMatchObject({ code: 'core-lost', message: '[core] the process ended: signal SIGSEGV' });
});

test('ends that lie further apart do not add up', async () => {
  const processes = controlled();
  let minutes = 0;
  const { supervisor, seen, until } = supervise(processes, () => minutes * 60_000);
  supervisor.start();
  for (let ends = 1; ends <= 5; ends++) {
    await until(() => processes.log.started === ends && seen.at(-1)?.phase === 'up');
    processes.crash();
    minutes += 4;
  }
  await until(() => processes.log.started === 6);
  expect(seen.some((status) => status.phase === 'stopped')).toBe(false);
});

test('three ends within five minutes are the last, however long the app has been running', async () => {
  const processes = controlled();
  let minutes = 60 * 24;
  const { supervisor, seen, until } = supervise(processes, () => minutes * 60_000);
  supervisor.start();
  for (let ends = 1; ends <= 3; ends++) {
    await until(() => processes.log.started === ends && seen.at(-1)?.phase === 'up');
    processes.crash();
    minutes += 2;
  }
  await vi.waitFor(() => expect(seen.at(-1)?.phase).toBe('stopped'));
  expect(processes.log.started).toBe(3);
});

test('two quick restarts leave one process', async () => {
  const processes = controlled();
  const { supervisor, seen, until } = supervise(processes);
  supervisor.start();
  await until(() => seen.at(-1)?.phase === 'up');
  await Promise.all([supervisor.restart(), supervisor.restart()]);
  await until(() => seen.at(-1)?.phase === 'up');
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(processes.log).toMatchObject({ living: 1, maxLiving: 1 });
});

test('a restart while the process is being started leaves that one, and its own crash counts as one', async () => {
  const processes = controlled();
  const { supervisor, seen, until } = supervise(processes);
  supervisor.start();
  await supervisor.restart();
  await until(() => seen.at(-1)?.phase === 'up');
  expect(processes.log).toMatchObject({ started: 1, killed: 0 });
  processes.crash();
  await until(() => seen.at(-1)?.phase === 'up' && processes.log.started === 2);
  expect(seen.map(({ phase }) => phase)).toEqual(['starting', 'up', 'restarting', 'starting', 'up']);
});

test('quitting waits for the process, and kills one that does not listen', async () => {
  const polite = controlled();
  const first = supervise(polite);
  first.supervisor.start();
  await first.until(() => first.seen.at(-1)?.phase === 'up');
  await first.supervisor.close();
  expect(polite.log).toMatchObject({ living: 0, killed: 0 });

  const deaf = controlled({ obeysQuit: false });
  const second = supervise(deaf);
  second.supervisor.start();
  await second.until(() => second.seen.at(-1)?.phase === 'up');
  await second.supervisor.close();
  expect(deaf.log).toMatchObject({ living: 0, killed: 1 });
});

test('closing while the process is being started ends it as soon as it is there, and nobody is told that it is up', async () => {
  const processes = controlled();
  const { supervisor, seen } = supervise(processes);
  supervisor.start();
  await supervisor.close();
  expect(processes.log).toMatchObject({ started: 1, living: 0 });
  expect(seen.map(({ phase }) => phase)).toEqual(['starting']);
});

test('closing while a restart waits starts nothing', async () => {
  const processes = controlled();
  const { supervisor, seen, until } = supervise(processes);
  supervisor.start();
  await until(() => seen.at(-1)?.phase === 'up');
  processes.crash();
  await until(() => seen.at(-1)?.phase === 'restarting');
  await supervisor.close();
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(processes.log.started).toBe(1);
});

test('the last words of a process are the end of all that it said, and go on to the log', async () => {
  const heard = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => heard.mockRestore());
  const says = `for (const word of ['first ', 'x'.repeat(3000), ' then ', 'y'.repeat(2000), ' last'])
    require('node:fs').writeSync(2, word)`;
  const child = spawn(process.execPath, ['-e', says], { stdio: ['ignore', 'ignore', 'pipe'] });
  const lastWords = listenToErrors(child.stderr);
  await once(child, 'close');
  expect(lastWords()).toBe(`${'x'.repeat(4000 - 2011)} then ${'y'.repeat(2000)} last`);
  expect(heard.mock.calls.map(([text]) => String(text)).join('')).toContain('first x');
});
