import { pipeOfMessagePort } from '../app/engine/port.ts';
import type { Ending, EngineProcess } from '../app/engine/supervisor.ts';
import { createHost } from '../app/host.ts';
import { failureOf } from '../app/protocol/index.ts';
import type { CoreOptions, FromCore, ToCore } from './messages.ts';

//  The core process of the desktop shell: app/host.ts with ports for pipes. Runs as a utility process of Electron.

type Port = Parameters<typeof pipeOfMessagePort>[0];
type Parent = {
  postMessage(message: FromCore): void;
  on(event: 'message', listener: (event: { data: ToCore; ports: Port[] }) => void): void;
};

export async function runCore(parent: Parent, options: CoreOptions, exit: () => void) {
  const starting = new Map<number, (port: Port) => void>();
  const ending = new Map<number, (ending: Ending) => void>();
  let engines = 0;

  /** The engine process belongs to Electron's main process; here it is only asked for. */
  const startEngine = (): Promise<EngineProcess> =>
    new Promise((resolve) => {
      const number = ++engines;
      const ended = new Promise<Ending>((done) => ending.set(number, done));
      starting.set(number, (port) =>
        resolve({ pipe: pipeOfMessagePort(port), ended, kill: () => parent.postMessage({ killEngine: number }) }),
      );
      parent.postMessage({ startEngine: number });
    });

  const host = createHost({ ...options, startEngine });

  parent.on('message', async ({ data, ports: [port] }) => {
    if ('engine' in data && port) starting.get(data.engine)?.(port);
    else if ('engineEnded' in data) ending.get(data.engineEnded)?.(data.ending);
    else if ('window' in data && port) (await host).connect(pipeOfMessagePort(port));
    else if ('notice' in data) (await host).notice(data.notice);
    else if ('quit' in data) {
      await (await host).close();
      exit();
    }
  });
  try {
    (await host).onBusy((busy) => parent.postMessage({ busy }));
    parent.postMessage({ ready: true });
  } catch (error) {
    parent.postMessage({ failed: failureOf(error) });
  }
}

const { parentPort } = process as { parentPort?: Parent };
const options = process.argv.at(-1);
if (parentPort && options) void runCore(parentPort, JSON.parse(options) as CoreOptions, () => process.exit(0));
