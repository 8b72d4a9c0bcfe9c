import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { converterByFork } from '../../../app/conversion/process/fork-converter.ts';
import { type Core, type CoreOptions, createCore } from '../../../app/core/core.ts';
import { parserByFork, type StartParser } from '../../../app/documents/parse/fork-parser.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { StartEngine } from '../../../app/engine/ipc-protocol.ts';
import {
  type ChatId,
  type Client,
  type ClientFrame,
  type CoreFrame,
  createClient,
  type EventPayload,
  type Message,
  pipePair,
  type TurnEvent,
  type TurnId,
  type Usage,
} from '../../../app/protocol/index.ts';

export const root = resolve(import.meta.dirname, '../../..');

/** The parts of the app in the source tree. */
export const places = {
  engine: join(root, 'app/engine/process/main.ts'),
  worker: join(root, 'app/text/jinja/template-process.ts'),
  pictureWorker: join(root, 'app/pictures/picture-process.ts'),
  documentParser: join(root, 'app/documents/parse/parser-process.ts'),
  documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
  sandbox: join(root, 'app/tools/sandbox/sandbox-worker.ts'),
  converter: join(root, 'app/conversion/process/main.ts'),
  addon: join(root, 'build/native/Release/longhand.node'),
  migrations: join(root, 'app/store/database/migrations'),
  resources: join(root, 'resources'),
  renderer: join(root, 'dist/renderer'),
};

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const realParser = (): StartParser => parserByFork(places);
export const realEngine = (): StartEngine => engineByFork(places.engine, places);

/** The whole core with the real engine process and model, and a client connected to it. */
export async function startCore(
  options: { dataFolder?: string; resources?: string; startEngine?: StartEngine; now?: () => number } & Pick<
    CoreOptions,
    'models' | 'heartbeat' | 'startServer' | 'cipher'
  > = {},
): Promise<{ host: Core; client: Client; dataFolder: string }> {
  const dataFolder = options.dataFolder ?? newFolder();
  const host = await createCore({
    dataFolder,
    migrations: places.migrations,
    resources: options.resources ?? places.resources,
    startEngine: options.startEngine ?? realEngine(),
    startParser: realParser(),
    pictureWorker: places.pictureWorker,
    sandbox: places.sandbox,
    models: { startConverter: converterByFork(places), ...options.models },
    ...(options.startServer && { startServer: options.startServer }),
    ...(options.cipher && { cipher: options.cipher }),
    ...(options.heartbeat && { heartbeat: options.heartbeat }),
    ...(options.now && { now: options.now }),
    about: { version: '0', commit: '', shell: 'browser' },
  });
  onTestFinished(() => host.close());
  return { host, client: connect(host), dataFolder };
}

export function connect(host: Pick<Core, 'connect'>): Client {
  const client = createClient();
  const [mine, its] = pipePair<ClientFrame, CoreFrame>();
  client.attach(mine);
  host.connect(its);
  return client;
}

/** The next event of a kind that matches. */
export function next<Name extends Parameters<Client['on']>[0]>(
  client: Client,
  name: Name,
  fits: (payload: EventPayload<Name>) => boolean = () => true,
): Promise<EventPayload<Name>> {
  return new Promise((done) => {
    const stop = client.on(name, (payload) => {
      if (!fits(payload)) return;
      stop();
      done(payload);
    });
  });
}

export const isEnd = (event: TurnEvent): boolean => event.type === 'finished' || event.type === 'failed';

/** Collects the events of a chat's turns, and waits for a turn to end. */
export function listen(client: Client) {
  const events: EventPayload<'turn'>[] = [];
  client.on('turn', (event) => events.push(event));
  return {
    events,
    of: (turnId: string | null) => events.filter((one) => one.turnId === turnId).map((one) => one.event),
    async end(turnId: string | null): Promise<TurnEvent> {
      const known = events.find((one) => one.turnId === turnId && isEnd(one.event));
      return known?.event ?? (await next(client, 'turn', (one) => one.turnId === turnId && isEnd(one.event))).event;
    },
  };
}

export const textOf = (events: readonly TurnEvent[], kind: 'answer' | 'thinking'): string =>
  events.map((event) => (event.type === 'delta' && event.kind === kind ? event.text : '')).join('');

export async function readMessage(client: Client, chatId: Message['chatId'], messageId: string): Promise<Message> {
  const { messages } = await client.call('chats.get', { chatId });
  const found = messages.find((message) => message.id === messageId);
  if (!found) throw new Error(`no message ${messageId}`);
  return found;
}

/** Sends messages, and says what each answer took. */
export function asking(client: Client): (chatId: ChatId, text: string) => Promise<Usage> {
  const { end } = listen(client);
  return async (chatId, text) => {
    const { turnId } = await client.call('turns.send', { chatId, text });
    const event = await end(turnId as TurnId);
    if (event.type !== 'finished') throw new Error(`it ended with ${JSON.stringify(event)}`);
    return event.usage;
  };
}
