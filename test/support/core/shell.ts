import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect } from 'vitest';
import { pipeToChild } from '../../../app/process/transport.ts';
import { type Client, createClient, type PreloadApi } from '../../../app/protocol/index.ts';
import * as electron from '../fakes/electron.ts';
import { places } from './core.ts';

//  The desktop shell from main/index.ts on, with a fake Electron and everything else real: the core of
//  main/processes/core-entry.ts, the engine process, the preload script, the ports.

const { done, world, BrowserWindow } = electron;
export const engines: ChildProcess[] = [];
export const readers: ChildProcess[] = [];
export const cores: Worker[] = [];

function startCore(args: string[]): electron.FakeUtilityProcess {
  const options = { ...JSON.parse(args[0] ?? ''), migrations: places.migrations };
  const worker = new Worker(join(import.meta.dirname, 'core-worker.ts'), {
    argv: [JSON.stringify(options)],
  });
  const process = new electron.FakeUtilityProcess();
  cores.push(worker);
  worker.on('message', (message) => process.emit('message', message));
  worker.on('exit', (code) => process.emit('exit', code));
  process.inbox.on('message', ({ data, ports }: { data: unknown; ports: electron.FakePort[] }) => {
    const real = ports.map((port) => port.real);
    worker.postMessage({ data, ports: real }, real);
  });
  return process;
}

function runEngine(args: string[]): electron.FakeUtilityProcess {
  expect(args[1]).toContain('template-worker');
  const child = fork(places.engine, [places.addon, places.worker, places.pictureWorker], {
    serialization: 'advanced',
    execArgv: [],
  });
  engines.push(child);
  return processOf(child);
}

function runParser([worker = '', limits = '']: string[]): electron.FakeUtilityProcess {
  expect(worker).toContain('document-worker');
  const child = fork(places.documentParser, [places.documentWorker, limits], {
    serialization: 'advanced',
    execArgv: [],
  });
  readers.push(child);
  return processOf(child);
}

function runConverter([addon = '', manual = '']: string[]): electron.FakeUtilityProcess {
  expect(addon).toMatch(/longhand\.node$/);
  const child = fork(places.converter, [places.addon, manual, places.worker], {
    serialization: 'advanced',
    execArgv: [],
  });
  readers.push(child);
  return processOf(child);
}

/** A worker that talks through a port, as Electron's own do. */
function processOf(child: ChildProcess): electron.FakeUtilityProcess {
  const process = new electron.FakeUtilityProcess();
  process.pid = child.pid;
  child.once('exit', () => process.emit('exit', 0));
  process.inbox.once('message', ({ ports: [port] }: { ports: electron.FakePort[] }) => {
    const pipe = pipeToChild<unknown, unknown>(child);
    port?.on('message', ({ data }: { data: unknown }) => pipe.send(data));
    port?.start();
    pipe.onMessage((message) => port?.postMessage(message));
  });
  return process;
}

export let folder: string;
export let client: Client;
export let api: PreloadApi;
export const window = () => BrowserWindow.all[0] as InstanceType<typeof BrowserWindow>;
/** Waits until nothing is left but what is held. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose_gc');
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
}
export const until = async (fits: () => boolean) => {
  while (!fits()) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** One shell for all tests of a file: it starts before the first and quits after the last. */
export function startShell(): void {
  beforeAll(start, 60_000);
  afterAll(stop);
}

async function start(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'longhand-shell-'));
  process.env.LONGHAND_DATA_DIR = join(folder, 'data');
  world.appPath = join(folder, 'app');
  mkdirSync(join(folder, 'app', 'dist', 'renderer'), { recursive: true });
  mkdirSync(join(folder, 'data', 'shell'), { recursive: true });
  writeFileSync(join(folder, 'app', 'dist', 'renderer', 'index.html'), '<title>Longhand</title>');
  symlinkSync(places.resources, join(folder, 'app', 'resources'));
  world.fork = (file, args) => {
    if (file.endsWith('document-parser.js')) return runParser(args);
    if (file.endsWith('converter.js')) return runConverter(args);
    return file.endsWith('engine.js') ? runEngine(args) : startCore(args);
  };
  await import('../../../main/index.ts');
  await until(() => BrowserWindow.all.length > 0);
  await import('../../../main/preload.ts');
  api = done.exposed.get('longhand') as PreloadApi;
  client = createClient();
  let receive: (frame: never) => void = () => {};
  let close = () => {};
  api.listen({
    opened: () =>
      client.attach({
        send: api.send,
        onMessage: (listener) => {
          receive = listener as typeof receive;
        },
        onClose: (listener) => {
          close = listener;
        },
        close: () => {},
      }),
    message: (frame) => receive(frame as never),
    closed: () => close(),
  });
}

async function stop(): Promise<void> {
  for (const worker of cores) await worker.terminate();
  rmSync(folder, { recursive: true, force: true });
  for (const child of [...engines, ...readers]) child.kill('SIGKILL');
}
