import { getPriority, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { pipeOfMessagePort, pipeToParent } from '../../process/transport.ts';
import type { Pipe } from '../../protocol/index.ts';
import type { FromParser, ParserData, ToParser } from './parser-worker.ts';

//  Entry of the parser process: node process.ts WORKER LIMITS, forked by Node or by Electron. A thread of it
//  (worker.ts) parses; the main thread only forwards messages and watches memory, so it notices growth whatever the
//  other thread is doing. A limit on the heap of the thread is not enough: buffers, WebAssembly and pictures lie outside it.

/** `memoryMb`: limit on resident memory of the process; `heapMb`: limit on the JavaScript heap of the thread. */
export type ParserLimits = ParserData & { memoryMb: number; heapMb: number };

export type FromProcess =
  | FromParser
  /** Processor time that the document has taken so far, in milliseconds, and what the process has grown to. */
  | { spent: number; megabytes: number }
  /** The last message: the process has used up its memory, or its thread has failed. */
  | { ended: 'memory' | 'failed'; why: string };

/** A stream that unpacks to nothing but zeros grows by about two gigabytes a second. */
const WATCH_MS = 20;
const SPENT_MS = 500;

const [file = '', given = '{}'] = process.argv.slice(2);

/** Electron's `process.parentPort`, by shape. */
type ParentPort = {
  once(event: 'message', listener: (event: { ports: Parameters<typeof pipeOfMessagePort>[0][] }) => void): void;
};
const { parentPort } = process as { parentPort?: ParentPort };
if (parentPort) {
  parentPort.once('message', ({ ports: [port] }) => {
    if (port) run(pipeOfMessagePort(port));
  });
} else run(pipeToParent());

function run(pipe: Pipe<FromProcess, ToParser>) {
  const { memoryMb, heapMb, recognises } = JSON.parse(given) as ParserLimits;
  yieldToOthers();
  // process.exit would wait for the thread, which may be in the midst of a long computation.
  const die = () => process.kill(process.pid, 'SIGKILL');
  pipe.onClose(die);

  const worker = new Worker(file, {
    workerData: { recognises } satisfies ParserData,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
    stdout: true,
    stderr: true,
  });
  // Discard what libraries print.
  worker.stdout.resume();
  worker.stderr.resume();

  let reading = false;
  let begun = 0;
  const processorMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const grownTo = () => process.memoryUsage.rss() / 2 ** 20;
  const tellSpent = () => pipe.send({ spent: processorMs() - begun, megabytes: grownTo() });
  let over = false;
  /** The thread's end follows its error; the first says why. */
  function end(ended: 'memory' | 'failed', why: string) {
    if (over) return;
    over = true;
    pipe.send({ ended, why });
    // The message is on its way; if nobody ends this process, it ends itself.
    setTimeout(die, WATCH_MS);
  }
  worker.on('message', (message: FromParser) => {
    if ('done' in message || 'failed' in message) {
      reading = false;
      tellSpent();
    }
    pipe.send(message);
  });
  worker.on('error', (error: Error & { code?: string }) => end(isMemory(error) ? 'memory' : 'failed', error.message));
  worker.on('exit', (code) => end('failed', `its thread ended with code ${code}`));
  pipe.onMessage((message) => {
    if ('read' in message) {
      reading = true;
      begun = processorMs();
    }
    worker.postMessage(message);
  });

  setInterval(() => {
    const megabytes = grownTo();
    if (megabytes <= memoryMb) return;
    // At once: an orderly shutdown would give it time to grow by as much again.
    pipe.send({ ended: 'memory', why: `${Math.round(megabytes)} MB` });
    die();
  }, WATCH_MS);
  setInterval(() => {
    if (reading) tellSpent();
  }, SPENT_MS);
}

/** The heap of the thread is full, or the system gives a buffer no memory. */
const isMemory = ({ code = '', message }: Error & { code?: string }) =>
  ['ERR_WORKER_OUT_OF_MEMORY', 'ERR_MEMORY_ALLOCATION_FAILED'].includes(code) || /allocation failed/i.test(message);

/** Lowers the priority: answers come before documents. */
function yieldToOthers() {
  try {
    setPriority(getPriority() + 5);
  } catch {
    // Not permitted here: it runs at normal priority.
  }
}
