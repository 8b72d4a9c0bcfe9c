import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Paths, pathsOf } from '../../../main/paths.ts';
import { createChildren, endAtOnce } from '../../../main/processes/child-processes.ts';

const forked = vi.hoisted(() => ({ next: [] as unknown[], calls: [] as unknown[][] }));
vi.mock('electron', () => ({
  MessageChannelMain: class {
    readonly port2 = {};
  },
  utilityProcess: {
    fork: (...call: unknown[]) => {
      forked.calls.push(call);
      return forked.next.shift();
    },
  },
}));

/** A process of Electron as it is between `fork` and the moment the system has started it. */
class StartingProcess extends EventEmitter {
  real: ChildProcess | null = null;
  get pid() {
    return this.real?.pid;
  }
  start() {
    this.real = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    onTestFinished(() => void this.real?.kill('SIGKILL'));
    this.emit('spawn');
    return this.real;
  }
}

const asElectron = (child: StartingProcess) => child as unknown as Electron.UtilityProcess;

test('a process that is ended before it has a number ends as soon as it has one', async () => {
  const child = new StartingProcess();
  endAtOnce(asElectron(child));
  const [, signal] = await once(child.start(), 'exit');
  expect(signal).toBe('SIGKILL');
});

test('one that runs ends at once, and one that is gone is left alone', async () => {
  const child = new StartingProcess();
  const real = child.start();
  const ended = once(real, 'exit');
  endAtOnce(asElectron(child));
  expect((await ended)[1]).toBe('SIGKILL');
  expect(() => endAtOnce(asElectron(child))).not.toThrow();
});

test('the end of a process that went with its core is not told of the one that has its number now', () => {
  const of = () => Object.assign(new StartingProcess(), { stderr: null, postMessage: () => {} });
  const [old, next] = [of(), of()];
  forked.next.push(old, next);
  const ended: number[] = [];
  const children = createChildren({} as Paths, (number) => ended.push(number));
  children.start(1, { run: 'engine' });
  children.killAll();
  children.start(1, { run: 'engine' });
  // The system tells of the first one when it gets to it.
  old.emit('exit', 9);
  expect(ended).toEqual([]);
  next.emit('exit', 9);
  expect(ended).toEqual([1]);
});

test('the engine gets its addon and workers, and V8 the options that bound it', () => {
  const paths = pathsOf({ root: '/app.asar', resources: '/resources', packaged: true });
  forked.next.push(Object.assign(new StartingProcess(), { stderr: null, postMessage: () => {} }));
  createChildren(paths, () => {}).start(1, { run: 'engine' });
  const [file, args, options] = forked.calls.at(-1) ?? [];
  expect(file).toBe('/app.asar/dist/main/engine.js');
  expect(args).toHaveLength(3);
  expect(options).toMatchObject({ execArgv: [expect.stringMatching(/^--js-flags=--max-semi-space-size=\d+$/)] });
});

test('the process that makes and tests models gets the addon, the manual and the renderer of templates, where they are', () => {
  const paths = pathsOf({ root: '/app.asar', resources: '/resources', packaged: true });
  forked.next.push(Object.assign(new StartingProcess(), { stderr: null, postMessage: () => {} }));
  createChildren(paths, () => {}).start(1, { run: 'converter' });
  expect(forked.calls.at(-1)?.slice(0, 2)).toEqual([
    '/app.asar/dist/main/converter.js',
    ['/resources/longhand.node', '/resources/help', '/app.asar/dist/main/template-worker.js'],
  ]);
});
