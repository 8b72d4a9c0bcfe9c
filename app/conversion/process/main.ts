import { constants, setPriority } from 'node:os';
import { loadAddon } from '../../engine/process/addon.ts';
import { toLonghandError } from '../../engine/process/addon-errors.ts';
import { pipeOfMessagePort, pipeToParent } from '../../process/transport.ts';
import { codeOfSystem, failureOf, type Pipe } from '../../protocol/index.ts';
import { formsOf, openOrigin } from '../making/forms.ts';
import { latentSizesOf } from '../making/latent.ts';
import { makeModel } from './make-model.ts';
import type { FromConverter, ToConverter } from './messages.ts';

//  The process that makes models: node main.ts ADDON MANUAL, forked by Node or by Electron. In Electron the first message of the
//  parent brings the port to the core.

// Files it writes are private to the user.
process.umask(0o077);
// It computes for minutes or hours: answers in a chat come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const [file = '', manual = ''] = process.argv.slice(2);

function serve(pipe: Pipe<FromConverter, ToConverter>): void {
  const stop = new AbortController();
  let working = false;
  let alone = false;
  const work = async (asked: ToConverter) => {
    working = true;
    try {
      const addon = loadAddon(file);
      if ('plan' in asked) pipe.send(await planned(addon, asked.plan));
      else pipe.send({ made: await makeModel({ addon, manual, signal: stop.signal, tell: pipe.send }, asked.make) });
    } catch (error) {
      pipe.send({ failed: failureOf(codeOfSystem(error) === null ? toLonghandError(error) : error) });
    }
    working = false;
    if (alone) process.exit(0);
  };
  pipe.onMessage((asked) => void work(asked));
  // The core is gone: what was begun is taken away first.
  pipe.onClose(() => {
    alone = true;
    stop.abort();
    if (!working) process.exit(0);
  });
}

async function planned(
  addon: ReturnType<typeof loadAddon>,
  { source, kind }: Extract<ToConverter, { plan: unknown }>['plan'],
): Promise<FromConverter> {
  const origin = await openOrigin(addon, source);
  return kind === 'weights'
    ? { planned: await formsOf(addon, origin) }
    : { latent: await latentSizesOf(addon, origin) };
}

/** Electron's `process.parentPort`, by shape. */
type ParentPort = {
  once(event: 'message', listener: (event: { ports: Parameters<typeof pipeOfMessagePort>[0][] }) => void): void;
};
const { parentPort } = process as { parentPort?: ParentPort };

if (parentPort) {
  parentPort.once('message', ({ ports: [port] }) => {
    if (port) serve(pipeOfMessagePort(port));
  });
} else {
  serve(pipeToParent());
}
