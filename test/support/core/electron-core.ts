import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { pipeToChild } from '../../../app/process/transport.ts';
import { type Client, type CoreFrame, createClient } from '../../../app/protocol/index.ts';
import type { ChildWish, CoreArguments, FromCore } from '../../../main/processes/core-ipc.ts';
import { type Build, places, type RunningApp } from './kills.ts';

//  The core process of the desktop app without a window: main/processes/core-entry.ts talks through real ports to a test that acts
//  as the page, and to an engine process that the test owns, as Electron's main process would.

export async function startElectronCore(dataFolder: string, build: Build): Promise<RunningApp> {
  const { migrations, pictureWorker, resources } = build;
  const about = { version: '0', commit: '', shell: 'electron' as const };
  const options: CoreArguments = { dataFolder, migrations, pictureWorker, resources, about, keychain: false };
  const worker = new Worker(join(import.meta.dirname, 'core-worker.ts'), {
    argv: [JSON.stringify(options)],
    workerData: { core: build.core },
  });
  const children: { child: ChildProcess; run: ChildWish['run'] }[] = [];
  const post = (data: object, ports: MessagePort[] = []) => worker.postMessage({ data, ports }, ports);

  function commandOf(wish: ChildWish): string[] {
    if (wish.run === 'engine') return [build.engine, places.addon, build.worker, build.pictureWorker];
    if (wish.run === 'converter') return [build.converter, places.addon, join(build.resources, 'help'), build.worker];
    return [build.documentParser, build.documentWorker, JSON.stringify(wish.limits)];
  }

  function startChild(number: number, wish: ChildWish) {
    const [file, ...args] = commandOf(wish);
    const child = fork(file as string, args, { serialization: 'advanced', execArgv: [] });
    children.push({ child, run: wish.run });
    const { port1, port2 } = new MessageChannel();
    const pipe = pipeToChild<unknown, unknown>(child);
    port1.on('message', pipe.send);
    pipe.onMessage((message) => port1.postMessage(message));
    child.once('exit', () => post({ childEnded: number, ending: { how: 'ended', lastWords: '' } }));
    post({ child: number }, [port2]);
  }

  const client: Client = await new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.on('message', (message: FromCore) => {
      if ('startChild' in message) startChild(message.startChild, message.wish);
      else if ('failed' in message) reject(new Error(message.failed.message));
      else if ('ready' in message) {
        const { port1, port2 } = new MessageChannel();
        post({ window: true }, [port2]);
        resolve(clientOf(port1));
      }
    });
  });
  return {
    client,
    engines: () => children.filter(({ run }) => run === 'engine').map(({ child }) => child.pid as number),
    async kill() {
      await worker.terminate();
      // As Electron's main process does when its core has gone.
      for (const { child } of children) child.kill('SIGKILL');
    },
  };
}

function clientOf(port: MessagePort): Client {
  const client = createClient();
  client.attach({
    send: (frame) => port.postMessage(frame),
    onMessage: (listener) => void port.on('message', (frame: CoreFrame) => listener(frame)),
    onClose: (listener) => void port.on('close', listener),
    close: () => port.close(),
  });
  return client;
}
