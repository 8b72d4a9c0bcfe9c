import { fork } from 'node:child_process';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createEngine } from '../../app/engine/client/engine-client.ts';
import type { EngineProcess, FromEngine, ToEngine } from '../../app/engine/ipc-protocol.ts';
import {
  type CallFrame,
  type ClientFrame,
  type CoreFrame,
  createClient,
  EngineStatus,
  ErrorCode,
  type Pipe,
  pipePair,
  type Response,
  type TurnId,
} from '../../app/protocol/index.ts';
import { connect, places, startCore } from '../support/core/core.ts';
import { tallyOf } from './tally.ts';

//  Malformed messages between our processes: wrong types, huge, out of order, unknown ids. The page, the core
//  and the engine do not trust each other.

vi.mock('electron', () => import('../support/fakes/electron.ts'));
vi.setConfig({ testTimeout: 60_000 });
const tally = tallyOf('messages');

const circle: Record<string, unknown> = {};
circle.self = circle;
const deep = JSON.parse(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`) as unknown;
const huge = 'x'.repeat(4 * 1024 * 1024);

/** Values that are never valid messages. */
const JUNK: readonly unknown[] = [
  null,
  undefined,
  true,
  0,
  -1,
  Number.NaN,
  2n ** 64n,
  '',
  'quit',
  huge,
  [],
  [[[]]],
  [null],
  {},
  { __proto__: null },
  JSON.parse('{"__proto__":{"ask":"devices"}}'),
  circle,
  deep,
  new Map([['ask', 'devices']]),
  new Set([1]),
  new Date(Number.NaN),
  new Uint8Array(1024 * 1024),
  /(a+)+$/,
  new Error('an error'),
  { constructor: 1, toString: 2 },
];

const shown = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 100);
  } catch {
    return String(value).slice(0, 100);
  }
};

const inTime = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, no) => setTimeout(() => no(new Error('no answer in 10 s')), 10_000).unref()),
  ]);

const IDS: readonly unknown[] = [undefined, null, '1', -1, 0.5, Number.NaN, 2 ** 60, [], {}, huge];
const NAMES: readonly unknown[] = [
  undefined,
  null,
  5,
  [],
  {},
  '',
  'app.info\0',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'app',
  'app.info.x',
  'APP.INFO',
  huge,
];

test('the core: frames that are none are answered with a code or end their own connection, and nobody else’s', async () => {
  const { host, client } = await startCore();
  const frames: unknown[] = [
    ...JUNK,
    ...IDS.map((id) => ({ id, call: 'app.info' })),
    ...NAMES.map((call) => ({ id: 1, call })),
    ...JUNK.map((input) => ({ id: 1, call: 'app.info', input })),
    ...JUNK.map((input) => ({ id: 1, call: 'chats.get', input })),
    { id: 1, value: 'an answer' },
    { id: 1, failure: { code: 'internal', message: '' } },
    { event: 'notice', payload: { code: 'saved-again', details: {} } },
    { event: 'turn', payload: null },
  ];
  for (const frame of frames) {
    await tally.refused(`to the core: ${shown(frame)}`, async () => {
      const [mine, its] = pipePair<unknown, CoreFrame>();
      host.connect(its as Pipe<CoreFrame, ClientFrame>);
      const answered = new Promise<CoreFrame | null>((resolve) => {
        mine.onMessage((reply) => 'id' in reply && resolve(reply));
        mine.onClose(() => resolve(null));
      });
      mine.send(frame);
      const reply = await inTime(answered);
      mine.close();
      if (reply && 'failure' in reply) {
        expect(ErrorCode.options).toContain(reply.failure.code);
        expect(reply.failure.code).not.toBe('internal');
        expect(reply.failure.message.length).toBeLessThan(1000);
      } else if (reply) expect(frame).toMatchObject({ call: 'app.info' });
    });
  }
  await tally.refused('five thousand calls at once', async () => {
    const other = connect(host);
    const calls = Array.from({ length: 5000 }, () => other.call('app.info'));
    await inTime(client.call('app.info'));
    await inTime(Promise.all(calls));
  });
  await tally.refused('calls whose ids are one', async () => {
    const [mine, its] = pipePair<unknown, CoreFrame>();
    host.connect(its as Pipe<CoreFrame, ClientFrame>);
    let answers = 0;
    mine.onMessage((reply) => 'id' in reply && answers++);
    for (let times = 0; times < 10; times++) mine.send({ id: 7, call: 'app.info' });
    await vi.waitFor(() => expect(answers).toBe(10));
    mine.close();
  });
  await tally.refused('a connection that closes with its calls under way', async () => {
    const [mine, its] = pipePair<unknown, CoreFrame>();
    host.connect(its as Pipe<CoreFrame, ClientFrame>);
    for (let id = 0; id < 100; id++) mine.send({ id, call: 'models.list' });
    mine.close();
    await inTime(client.call('app.info'));
  });
  expect(await client.call('app.info')).toMatchObject({ shell: 'browser' });
  tally.settle();
});

test('the page: answers to nothing and events that nobody knows change nothing', async () => {
  const faults: unknown[] = [];
  const complain = vi.spyOn(console, 'error').mockImplementation((...said) => void faults.push(said));
  onTestFinished(() => complain.mockRestore());
  const client = createClient({ onFault: () => {} });
  const [mine, its] = pipePair<ClientFrame, CoreFrame>();
  client.attach(mine);
  const asked: CallFrame[] = [];
  its.onMessage((frame) => 'call' in frame && asked.push(frame));
  const heard: unknown[] = [];
  client.on('notice', (notice) => heard.push(notice));
  const answer = client.call('app.info');
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  for (const junk of [
    ...JUNK,
    ...IDS.map((id) => ({ id, value: 1 })),
    { id: 999, value: 1 },
    { id: 999, failure: null },
    { event: 'unknown', payload: 1 },
    { event: '__proto__', payload: 1 },
    { event: null },
    { event: 'notice', payload: { code: 'unknown', details: {} } },
    { event: 'notice', payload: { code: 'read-only', details: { folder: 7 } } },
  ]) {
    await tally.refused(`to the page: ${shown(junk)}`, async () => {
      its.send(junk as CoreFrame);
      await new Promise((go) => setImmediate(go));
      expect(heard).toEqual([]);
    });
  }
  const info: Response<'app.info'> = {
    version: '1',
    commit: '',
    platform: 'linux',
    shell: 'browser',
    dataFolder: '/data',
    notices: [],
  };
  its.send({ id: asked[0]?.id ?? 0, value: info });
  await tally.refused('an answer after all of it', async () => expect(await inTime(answer)).toEqual(info));
  tally.settle();
});

test('the engine: what is no message ends nothing', { timeout: 90_000 }, async () => {
  const child = fork(places.engine, [places.addon, places.worker], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const answers = new Map<unknown, FromEngine>();
  child.on('message', (message: FromEngine) => 'id' in message && answers.set(message.id, message));
  let lastId = 1e6;
  const alive = async () => {
    const id = ++lastId;
    child.send({ id, ask: 'devices', input: null });
    await vi.waitFor(() => expect(answers.get(id)).toMatchObject({ value: expect.any(Array) }), 60_000);
  };
  await alive();
  const asks = [
    'inspect',
    'describe',
    'preview',
    'load',
    'count',
    'countText',
    'embed',
    'rank',
    'recognise',
    'bandwidth',
  ];
  const target = { modelId: 'x', path: '/nowhere', device: null, threads: null, contextLength: null, template: null };
  const messages: unknown[] = [
    ...JUNK,
    ...NAMES.map((ask) => ({ id: 1, ask, input: null })),
    ...asks.flatMap((ask) =>
      [null, 5, 'x', [], {}, { path: 5 }, { path: '\0' }, huge].map((input) => ({ id: 1, ask, input })),
    ),
    ...JUNK.map((generate) => ({ generate })),
    ...['cancel', 'answerNow', 'decide'].flatMap((name) => IDS.map((id) => ({ [name]: id }))),
    { decide: 'nobody', choice: 'everything' },
    { cancelLoad: 'yes' },
    { generate: { turnId: 'a', priority: 'nobody', target, prompt: null, sampling: {}, stops: null } },
    { generate: { turnId: 'b', priority: 'chat', target, prompt: { messages: null }, sampling: {}, stops: [] } },
    { ask: 'devices' },
    { quit: false, ask: 'x' },
  ].filter((message) => message !== undefined);
  for (const message of messages) {
    await tally.refused(`to the engine: ${shown(message)}`, async () => {
      try {
        child.send(message as object);
      } catch (error) {
        // Values that cannot be serialised cannot be sent.
        if (!/could not be cloned|argument must be/.test(String(error))) throw error;
      }
      expect(child.exitCode ?? child.signalCode).toBe(null);
    });
  }
  await tally.refused('an engine that answers after all of it', alive);
  tally.settle();
});

/** The core's side of an engine process that sends arbitrary messages. */
function hostileEngine() {
  let send: (message: unknown) => void = () => {};
  const log = { started: 0, killed: 0 };
  const startEngine = async (): Promise<EngineProcess> => {
    log.started++;
    const [pipe, its] = pipePair<ToEngine, FromEngine>();
    send = its.send as typeof send;
    its.onMessage((message) => {
      if ('ask' in message && message.ask === 'devices') its.send({ id: message.id, value: [] });
    });
    let end = () => {};
    const ended = new Promise<{ how: string; lastWords: string }>((resolve) => {
      end = () => resolve({ how: 'signal SIGKILL', lastWords: '' });
    });
    const kill = () => {
      log.killed++;
      end();
    };
    return { pipe, kill, ended };
  };
  return { startEngine, log, send: (message: unknown) => send(message) };
}

test('the core, asked by a hostile engine: nothing that is no message goes on, and the next engine answers', async () => {
  const complain = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => complain.mockRestore());
  const ready = { phase: 'ready', modelId: 'm', backEnd: 'cpu', memoryBytes: 1, contextLength: 1 };
  const delta = { type: 'delta', text: 'x', kind: 'answer', tokens: 1 };
  const turnId = 'turn' as TurnId;
  for (const message of [
    ...JUNK,
    ...JUNK.map((status) => ({ status })),
    ...JUNK.map((pulse) => ({ pulse })),
    ...JUNK.map((event) => ({ turnId, updates: [{ event }] })),
    ...JUNK.map((updates) => ({ turnId, updates })),
    { status: { ...ready, memoryBytes: 'much' } },
    { status: { phase: 'conquered' } },
    { id: 1, failure: { code: 'everything', message: 5 } },
    { turnId, updates: [{ event: { ...delta, text: 5 } }] },
    { turnId, updates: [{ event: { ...delta, kind: 'system' } }] },
    { turnId, updates: [{ event: { type: 'finished', reason: 'because' } }] },
    { turnId: 5, updates: [] },
  ]) {
    await tally.refused(`from the engine: ${shown(message)}`, async () => {
      const statuses: unknown[] = [];
      const updates: unknown[] = [];
      const hostile = hostileEngine();
      const engine = createEngine({
        startEngine: hostile.startEngine,
        onStatus: (status) => statuses.push(status),
        report: () => {},
        waits: [1, 1, 1],
        quitWaitMs: 1,
      });
      await engine.ask('devices', null);
      engine.generate({ turnId, target: { modelId: 'm' } } as never, (some) => updates.push(...some));
      try {
        hostile.send(message);
      } catch (error) {
        if (!/could not be cloned/.test(String(error))) throw error;
      }
      await inTime(engine.ask('devices', null)).catch(() => inTime(engine.ask('devices', null)));
      for (const status of statuses) expect(EngineStatus.safeParse(status).success, shown(status)).toBe(true);
      for (const update of updates) expect(update).toMatchObject({ event: { type: 'failed' } });
      await engine.close();
    });
  }
  for (const message of [{ id: 999, value: 1 }, { turnId: 'nobody', updates: [{ event: delta }] }, { status: ready }]) {
    await tally.refused(`out of order: ${shown(message)}`, async () => {
      const hostile = hostileEngine();
      const engine = createEngine({
        startEngine: hostile.startEngine,
        onStatus: () => {},
        report: () => {},
        quitWaitMs: 1,
      });
      await engine.ask('devices', null);
      hostile.send(message);
      await inTime(engine.ask('devices', null));
      expect(hostile.log).toEqual({ started: 1, killed: 0 });
      await engine.close();
    });
  }
  tally.settle();
});

test('the shell: channels of a page take nothing that does not fit', async () => {
  const electron = await import('../support/fakes/electron.ts');
  const { serveIpc } = await import('../../main/ipc.ts');
  serveIpc({ connect: () => true, takeOpened: () => [], takeAsked: () => null, keysAreFree: () => true });
  const [home, opened] = ['longhand://app/', electron.done.opened.length];
  const frame = { url: home };
  const sender = { mainFrame: frame };
  for (const [channel, handler] of electron.ipcMain.handlers) {
    const values = [
      ...JUNK,
      ...['file:///etc/passwd', 'javascript:alert(1)', 'data:text/html,x', `https://x/${huge}`].filter(
        () => channel === 'open-external',
      ),
      { name: 'a.txt' },
      { name: '', bytes: new Uint8Array(1) },
      { name: huge, bytes: new Uint8Array(1) },
      { name: 'a.txt', bytes: 'x' },
    ];
    for (const value of values) {
      // It takes no argument: this is a valid call.
      if (value === undefined && ['take-opened', 'take-asked', 'screenshot'].includes(channel)) continue;
      if (typeof value === 'string' && channel === 'reveal' && value.length < 4096 && value !== '') continue;
      await tally.refused(`${channel}: ${shown(value)}`, () =>
        expect((async () => handler({ sender, senderFrame: frame } as never, value))()).rejects.toThrow(),
      );
    }
    for (const from of [null, { url: home }, { url: 'data:text/html,x' }]) {
      await tally.refused(`${channel}, asked by another frame`, () =>
        expect((async () => handler({ sender, senderFrame: from } as never, 'x'))()).rejects.toThrow('[ipc]'),
      );
    }
  }
  expect(electron.done.opened.slice(opened)).toEqual([]);
  tally.settle();
});
