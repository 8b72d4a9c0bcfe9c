import { createCore } from '../../app/core/core.ts';
import type { StartParser } from '../../app/documents/parse/fork-parser.ts';
import type { StartEngine } from '../../app/engine/ipc-protocol.ts';
import type { Ending, Supervised } from '../../app/process/supervisor.ts';
import { pipeOfMessagePort } from '../../app/process/transport.ts';
import { failureOf, guarded, LonghandError } from '../../app/protocol/index.ts';
import type { ChildWish, CoreArguments, FromCore, ToCore } from './core-ipc.ts';
import { followCore } from './core-news.ts';

//  The core process of the desktop shell: app/core/core.ts with ports for pipes. Runs as a utility process of Electron.

type Port = Parameters<typeof pipeOfMessagePort>[0];
type Parent = {
  postMessage(message: FromCore): void;
  on(event: 'message', listener: (event: { data: ToCore; ports: Port[] }) => void): void;
};

export async function runCore(parent: Parent, options: CoreArguments, exit: () => void) {
  const starting = new Map<number, (port: Port) => void>();
  const ending = new Map<number, (ending: Ending) => void>();
  let children = 0;

  /** Child processes belong to Electron's main process; they are requested from it. */
  const startChild = <Out, In>(wish: ChildWish): Promise<Supervised<Out, In>> =>
    new Promise((resolve) => {
      const number = ++children;
      const ended = new Promise<Ending>((done) => ending.set(number, done));
      starting.set(number, (port) =>
        resolve({ pipe: pipeOfMessagePort(port), ended, kill: () => parent.postMessage({ killChild: number }) }),
      );
      parent.postMessage({ startChild: number, wish });
    });
  const startEngine: StartEngine = () => startChild({ run: 'engine' });
  const startParser: StartParser = (limits) => startChild({ run: 'parser', limits });

  const keychain = createKeychainClient(parent);
  const host = createCore({
    ...options,
    startEngine,
    startParser,
    models: { startConverter: () => startChild({ run: 'converter' }) },
    // Loaded on demand.
    startServer: async (asked) => (await import('../../app/server/api/api-server.ts')).startApiServer(asked),
    ...(options.keychain && { cipher: keychain.cipher }),
  });

  const received = async ({ data, ports: [port] }: { data: ToCore; ports: Port[] }) => {
    if ('child' in data && port) starting.get(data.child)?.(port);
    else if ('childEnded' in data) ending.get(data.childEnded)?.(data.ending);
    else if ('window' in data && port) (await host).connect(pipeOfMessagePort(port));
    else if ('keychain' in data) keychain.answered(data.keychain, data.text);
    else if ('notice' in data) (await host).notice(data.notice);
    else if ('quit' in data) {
      await (await host).close().finally(exit);
    }
  };
  // A missing host was reported once; throwing here would end the process.
  parent.on('message', guarded(console.error, received));
  try {
    (await host).onBusy((busy) => parent.postMessage({ busy }));
    (await host).onDownload((download) => parent.postMessage({ download }));
    parent.postMessage({ ready: true });
    await followCore(await host, (news) => parent.postMessage({ news }));
  } catch (error) {
    parent.postMessage({ failed: failureOf(error) });
  }
}

/** The keychain is in Electron's main process; the core sends it requests. */
function createKeychainClient(parent: Parent) {
  const waiting = new Map<number, (text: string | null) => void>();
  let last = 0;
  const ask = (work: 'seal' | 'open', text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const number = ++last;
      waiting.set(number, (answer) =>
        answer === null
          ? reject(new LonghandError('permission', `[keychain] would not ${work} a secret`))
          : resolve(answer),
      );
      parent.postMessage({ keychain: number, work, text });
    });
  return {
    cipher: { seal: (text: string) => ask('seal', text), open: (text: string) => ask('open', text) },
    answered(number: number, text: string | null) {
      waiting.get(number)?.(text);
      waiting.delete(number);
    },
  };
}

// Files of chats are readable by their owner only.
process.umask(0o077);
const { parentPort } = process as { parentPort?: Parent };
const options = process.argv.at(-1);
if (parentPort && options) void runCore(parentPort, JSON.parse(options) as CoreArguments, () => process.exit(0));
