import { WebSocket } from 'ws';
import { createCore } from '../../core/core.ts';
import { parserByFork } from '../../documents/parse/fork-parser.ts';
import { engineByFork } from '../../engine/client/fork-engine.ts';
import {
  type Client,
  type ClientFrame,
  type CoreFrame,
  createClient,
  LonghandError,
  pipePair,
  socketPath,
  subprotocol,
} from '../../protocol/index.ts';
import { enter, freshAddress, reachIn } from '../../server/one-time-address.ts';
import { defaultDataFolder } from '../../store/folder/data-dir.ts';
import type { Context, Flags } from './command.ts';

export const DATA_FLAG = {
  data: { kind: 'text', value: 'DIR', help: 'data folder (default: the one the app uses)' },
} as const satisfies Flags;

/** Runs with the core of a data folder: the app's if it is running, or else its own. */
export async function withCore<T>(
  { places }: Context,
  data: string | undefined,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const dataFolder = data ?? defaultDataFolder();
  try {
    const host = await createCore({
      dataFolder,
      migrations: places.migrations,
      resources: places.resources,
      pictureWorker: places.pictureWorker,
      startEngine: engineByFork(places.engine, places),
      startParser: parserByFork(places),
      preload: false,
      about: { version: '', commit: '', shell: 'browser' },
    });
    const client = createClient();
    const [mine, its] = pipePair<ClientFrame, CoreFrame>();
    client.attach(mine);
    host.connect(its);
    return await work(client).finally(host.close);
  } catch (error) {
    const reach = reachIn(error);
    if (reach === null) throw error;
    const { client, lost, close } = await connectTo(await freshAddress(reach));
    return await Promise.race([work(client), lost]).finally(close);
  }
}

/** Connects like a browser: the address yields a secret, the secret opens the socket. */
async function connectTo(address: string): Promise<{ client: Client; lost: Promise<never>; close: () => void }> {
  const { origin, secret } = await enter(address);
  const socket = new WebSocket(origin.replace(/^http/, 'ws') + socketPath, [subprotocol, secret], { origin });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    // Also hears a later error, which the close event tells of.
    socket.once('error', reject);
  });
  // Otherwise a wait for an event would never end if the app quits.
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => {});
  socket.once('close', () => reject(new LonghandError('core-lost', '[longhand] the app ended before it answered')));
  const client = createClient();
  client.attach({
    send: (frame) => socket.send(JSON.stringify(frame)),
    onMessage: (listener) => void socket.on('message', (data) => listener(JSON.parse(String(data)) as CoreFrame)),
    onClose: (listener) => void socket.on('close', listener),
    close: () => socket.close(),
  });
  return { client, lost, close: () => socket.close() };
}
