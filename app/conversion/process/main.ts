import { constants, setPriority } from 'node:os';
import { loadAddon } from '../../engine/process/addon.ts';
import { toLonghandError } from '../../engine/process/addon-errors.ts';
import { pipeOfMessagePort, pipeToParent } from '../../process/transport.ts';
import { codeOfSystem, failureOf, type Pipe } from '../../protocol/index.ts';
import { formsOf, openOrigin } from '../making/forms.ts';
import { latentSizesOf } from '../making/latent.ts';
import { createGate, evaluateModel, forecastModel } from './evaluation.ts';
import { makeModel } from './make-model.ts';
import type { FromConverter, ToConverter } from './messages.ts';

//  The process that makes and evaluates models: node main.ts ADDON MANUAL WORKER, forked by Node or by Electron. In Electron the first message of the
//  parent brings the port to the core.

// Files it writes are private to the user.
process.umask(0o077);
// It computes for minutes or hours: answers in a chat come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const [file = '', manual = '', worker = ''] = process.argv.slice(2);

function serve(pipe: Pipe<FromConverter, ToConverter>): void {
  const stop = new AbortController();
  let working = false;
  let alone = false;
  const gate = createGate();
  const answerTo = async (asked: Exclude<ToConverter, { wait: boolean }>): Promise<FromConverter> => {
    const addon = loadAddon(file);
    const surroundings = { addon, manual, worker, signal: stop.signal, tell: pipe.send };
    if ('plan' in asked) return planned(addon, asked.plan);
    if ('forecast' in asked) return { forecast: await forecastModel(surroundings, asked.forecast) };
    if ('evaluate' in asked) return { evaluated: await evaluateModel(surroundings, asked.evaluate, gate) };
    return { made: await makeModel(surroundings, asked.make) };
  };
  const work = async (asked: Exclude<ToConverter, { wait: boolean }>) => {
    working = true;
    try {
      pipe.send(await answerTo(asked));
    } catch (error) {
      pipe.send({ failed: failureOf(codeOfSystem(error) === null ? toLonghandError(error) : error) });
    }
    working = false;
    if (alone) process.exit(0);
  };
  pipe.onMessage((asked) => {
    if ('wait' in asked) gate.hold(asked.wait);
    else void work(asked);
  });
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
