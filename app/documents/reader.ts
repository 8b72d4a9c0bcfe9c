import { Worker } from 'node:worker_threads';
import { type DocumentKind, LonghandError } from '../protocol/index.ts';
import type { SystemRecogniser } from './assets.ts';
import type { Source } from './piece.ts';
import type { FromReader, ReaderData, ToReader } from './worker.ts';

/** Reads documents in a thread of its own, one at a time. A document that makes the thread fail, hang or grow fails alone.
 *
 *    no thread ──first document──▶ idle ⇄ reading ──crash, time or memory used up──▶ no thread (the document fails)
 */
export type DocumentReader = {
  /** @throws LonghandError as the format's reader, `cancelled`, `out-of-memory`, `internal` */
  read(source: Source, kind: DocumentKind, told: Told, signal: AbortSignal): Promise<Done>;
  close(): Promise<void>;
};

export type Told = {
  batch(batch: Extract<FromReader, { batch: unknown }>['batch']): void | Promise<void>;
  progress(progress: Extract<FromReader, { progress: unknown }>['progress']): void;
};
export type Done = Extract<FromReader, { done: unknown }>['done'];

export type ReaderOptions = {
  /** The file of worker.ts. */
  worker: string;
  /** Longest time without a sign of progress. */
  patienceMs?: number;
  memoryMb?: number;
  /** Reads pictures for the thread, in the place of Tesseract. */
  recognise?: SystemRecogniser | null;
};

/** Documents that one thread reads before it is replaced: what libraries keep is let go with it. */
const LIFE = 500;

export function createDocumentReader({
  worker: file,
  patienceMs = 120_000,
  memoryMb = 320,
  recognise = null,
}: ReaderOptions): DocumentReader {
  let worker: Worker | null = null;
  let served = 0;

  function start(): Worker {
    const started = new Worker(file, {
      workerData: { recognises: recognise !== null } satisfies ReaderData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
      stdout: true,
      stderr: true,
    });
    started.unref();
    // What libraries print is for nobody.
    started.stdout.resume();
    started.stderr.resume();
    served = 0;
    return started;
  }

  async function stop() {
    const stopped = worker;
    worker = null;
    await stopped?.terminate();
  }

  return {
    async read(source, kind, told, signal) {
      if (served >= LIFE) await stop();
      worker ??= start();
      const current = worker;
      served++;
      let clock = setTimeout(() => {}, 0);
      const { promise, resolve, reject } = Promise.withResolvers<Done>();
      const fail = (error: Error) => {
        reject(error);
        void stop();
      };
      const wait = () => {
        clearTimeout(clock);
        const seconds = Math.round(patienceMs / 1000);
        const slow = new LonghandError(
          'unreadable',
          `[documents] ${source.fileName} stood still for ${seconds} seconds`,
        );
        clock = setTimeout(() => fail(slow), patienceMs);
      };
      const onMessage = async (message: FromReader) => {
        wait();
        try {
          if ('batch' in message) {
            await told.batch(message.batch);
            current.postMessage({ stored: true } satisfies ToReader);
          } else if ('recognise' in message) {
            // What the system fails at is left to Tesseract.
            const recognised = (await recognise?.(message.recognise).catch(() => null)) ?? null;
            current.postMessage({ recognised } satisfies ToReader);
          } else if ('progress' in message) told.progress(message.progress);
          else if ('done' in message) resolve(message.done);
          else reject(failureWithRemedy(message.failed));
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const onError = (error: Error & { code?: string }) => fail(crashed(error, source.fileName, memoryMb));
      const onExit = () => fail(new LonghandError('internal', `[documents] the reader of ${source.fileName} ended`));
      const onAbort = () => fail(new LonghandError('cancelled', `[documents] ${source.fileName} is no longer wanted`));
      current.on('message', onMessage).on('error', onError).on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      wait();
      current.postMessage({ read: source, kind } satisfies ToReader);
      return promise.finally(() => {
        clearTimeout(clock);
        signal.removeEventListener('abort', onAbort);
        current.off('message', onMessage).off('error', onError).off('exit', onExit);
      });
    },
    close: stop,
  };
}

/** The remedy travels with the error. */
function failureWithRemedy({ failure, remedy }: Extract<FromReader, { failed: unknown }>['failed']): LonghandError {
  return new LonghandError(failure.code, failure.message, { details: { ...failure.details, remedy } });
}

function crashed(error: Error & { code?: string }, fileName: string, memoryMb: number): LonghandError {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new LonghandError('out-of-memory', `[documents] ${fileName} needs more than ${memoryMb} MB to be read`);
  }
  return new LonghandError('internal', `[documents] the reader of ${fileName} failed: ${error.message}`, {
    cause: error,
  });
}
