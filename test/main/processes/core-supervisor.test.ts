import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Paths } from '../../../main/paths.ts';
import { createCoreSupervisor } from '../../../main/processes/core-supervisor.ts';
import { FakeUtilityProcess, world } from '../../support/fakes/electron.ts';

vi.mock('electron', () => import('../../support/fakes/electron.ts'));

//  What the shell hears of its core, and what the core gets from the shell.

type Sent = { data: unknown; ports: unknown[] };
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
let forked: { process: FakeUtilityProcess; args: string[]; inbox: Sent[] }[] = [];

beforeEach(() => {
  forked = [];
  world.fork = (_, args) => {
    const process = new FakeUtilityProcess();
    const inbox: Sent[] = [];
    process.inbox.on('message', (message) => inbox.push(message));
    forked.push({ process, args, inbox });
    return process;
  };
});

async function supervised(keychain: object | null = null) {
  const told: unknown[][] = [];
  const note =
    (name: string) =>
    (...values: unknown[]) =>
      void told.push([name, ...values]);
  const supervisor = createCoreSupervisor({
    paths: { core: 'core.js', engine: 'engine.js' } as Paths,
    core: { dataFolder: '/data' } as never,
    keychain: keychain as never,
    onReady: note('ready'),
    onLost: note('lost'),
    onBusy: note('busy'),
    onDownload: note('download'),
    onNews: note('news'),
    onFailed: note('failed'),
  });
  await settled();
  const core = forked.at(-1);
  if (!core) throw new Error('no core was started');
  onTestFinished(() => void core.process.removeAllListeners());
  return { supervisor, core, told, say: (message: object) => core.process.emit('message', message) };
}

test('a window gets the core when it is ready, and nothing before', async () => {
  const { supervisor, core, told, say } = await supervised();
  const port = {} as never;
  expect(core.args).toEqual(['{"dataFolder":"/data"}']);
  expect(supervisor.connect(port)).toBe(false);
  supervisor.notice({ code: 'request-blocked' } as never);
  say({ ready: true });
  expect(supervisor.connect(port)).toBe(true);
  supervisor.notice({ code: 'request-blocked' } as never);
  await settled();
  expect(core.inbox).toEqual([
    { data: { window: true }, ports: [port] },
    { data: { notice: { code: 'request-blocked' } }, ports: [] },
  ]);
  expect(told).toEqual([['ready']]);
});

test('what the core says goes to whom it is for', async () => {
  const { told, say } = await supervised();
  for (const message of [
    { busy: true },
    { download: { name: 'a' } },
    { news: { recent: [] } },
    { failed: { code: 'disk-full' } },
  ])
    say(message);
  expect(told).toEqual([
    ['busy', true],
    ['download', { name: 'a' }],
    ['news', { recent: [] }],
    ['failed', { code: 'disk-full' }],
  ]);
});

test('a process that the core wants is started, its pipe handed over, and its end told', async () => {
  const { core, say } = await supervised();
  say({ startChild: 3, wish: { run: 'engine' } });
  await settled();
  const engine = forked[1];
  expect(engine?.inbox).toMatchObject([{ data: 'port', ports: [{}] }]);
  expect(core.inbox).toMatchObject([{ data: { child: 3 }, ports: [{}] }]);
  engine?.process.emit('exit', 9);
  await settled();
  expect(core.inbox.at(-1)?.data).toEqual({ childEnded: 3, ending: { how: 'code 9', lastWords: '' } });
});

test('the keychain answers the core; one that fails, or is not there, answers nothing', async () => {
  const seal = async (text: string) => `sealed ${text}`;
  const locked = async () => Promise.reject(new Error('locked'));
  const { core, say } = await supervised({ seal, open: locked });
  say({ keychain: 1, work: 'seal', text: 'key' });
  say({ keychain: 2, work: 'open', text: 'key' });
  await settled();
  expect(core.inbox.map(({ data }) => data)).toEqual([
    { keychain: 1, text: 'sealed key' },
    { keychain: 2, text: null },
  ]);
  const without = await supervised(null);
  without.say({ keychain: 1, work: 'seal', text: 'key' });
  await settled();
  expect(without.core.inbox.map(({ data }) => data)).toEqual([{ keychain: 1, text: null }]);
});

test('a core that is lost: windows are told, its processes end, nobody is busy, and another one begins', async () => {
  const { supervisor, core, told, say } = await supervised();
  say({ ready: true });
  say({ startChild: 1, wish: { run: 'engine' } });
  await settled();
  const engine = forked[1];
  const waits = vi.fn();
  engine?.process.on('newListener', (name) => name === 'spawn' && waits());
  core.process.emit('exit', 1);
  await settled();
  expect(waits, 'it ends as soon as it has a number').toHaveBeenCalledOnce();
  expect(told.slice(0, 3)).toEqual([['ready'], ['busy', false], ['lost']]);
  expect(supervisor.connect({} as never)).toBe(false);
  await vi.waitFor(() => expect(forked).toHaveLength(3), 5000);
});
