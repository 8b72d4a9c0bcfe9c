import { type DocumentKind, guarded, LonghandError } from '../../protocol/index.ts';
import type { Source } from '../element.ts';
import type { SystemRecogniser } from './assets.ts';
import type { ParserProcess, StartParser } from './fork-parser.ts';
import type { FromProcess } from './parser-process.ts';
import type { FromParser } from './parser-worker.ts';

/** Parses documents one at a time in a separate process. A document that makes the process crash, hang or grow fails alone.
 *
 *    no process ──first document──▶ idle ⇄ reading ──crash, time, memory or text used up──▶ no process (the document fails)
 *         ▲──────────idle for a while──────┘
 */
export type ParserClient = {
  /** @throws LonghandError as the format's parser, `cancelled`, `out-of-memory`, `too-large`, `internal` */
  read(source: Source, kind: DocumentKind, told: Told, signal: AbortSignal): Promise<Done>;
  close(): Promise<void>;
};

export type Told = {
  batch(batch: Batch): void | Promise<void>;
  progress(progress: Extract<FromParser, { progress: unknown }>['progress']): void;
};
export type Done = Extract<FromParser, { done: unknown }>['done'];
type Batch = Extract<FromParser, { batch: unknown }>['batch'];

/** Limits per document. The format parsers have their own limits with better messages; these hold
 *  whatever a library does. */
export type ParserLimits = {
  /** Maximum time without progress. */
  stillMs: number;
  /** Maximum processor time without progress, so that load of other programs does not count. */
  stillSpentMs: number;
  /** Maximum processor time of one document, whatever progress it makes. */
  spentMs: number;
  /** Additional processor time per page with OCR. */
  spentOnPictureMs: number;
  memoryMb: number;
  heapMb: number;
  /** After this time an idle process is ended, to release memory that libraries hold. */
  idleMs: number;
};

export const PARSER_LIMITS: ParserLimits = {
  stillMs: 120_000,
  stillSpentMs: 40_000,
  spentMs: 600_000,
  spentOnPictureMs: 40_000,
  memoryMb: 768,
  heapMb: 320,
  idleMs: 60_000,
};

export type ReaderOptions = {
  start: StartParser;
  limits?: Partial<ParserLimits>;
  /** System OCR for the process, instead of Tesseract. */
  recognise?: SystemRecogniser | null;
};

/** Whether any output of the document arrived, and whether the process ended instead of answering. */
type Attempt = { begun: boolean; ended: boolean };

/** Documents per process before it is replaced. */
const LIFE = 500;

export function createParserClient({ start, limits: given, recognise = null }: ReaderOptions): ParserClient {
  const limits = { ...PARSER_LIMITS, ...given };
  const { memoryMb, heapMb } = limits;
  let running: Promise<ParserProcess> | null = null;
  let served = 0;
  let idle: NodeJS.Timeout | null = null;
  let heard = (_message: FromProcess, _from: ParserProcess) => {};

  function begin(): Promise<ParserProcess> {
    served = 0;
    const starting = start({ memoryMb, heapMb, recognises: recognise !== null }).then((child) => {
      const hear = (message: FromProcess) => {
        heard(message, child);
        // It failed after its last document: the next one gets a new process.
        if ('ended' in message && running === starting) void stop();
      };
      child.pipe.onMessage(guarded(console.error, hear));
      const lost = () => {
        if (running === starting) running = null;
      };
      void child.ended.then(guarded(console.error, lost));
      return child;
    });
    starting.catch(() => {
      if (running === starting) running = null;
    });
    return starting;
  }

  async function stop() {
    if (idle) clearTimeout(idle);
    const stopped = running;
    running = null;
    const child = await stopped?.catch(() => null);
    child?.kill();
    await child?.ended;
  }

  /** `attempt`: what became of it. */
  async function readOnce(source: Source, kind: DocumentKind, told: Told, signal: AbortSignal, attempt: Attempt) {
    running ??= begin();
    const child = await running;
    served++;
    const { promise, resolve, reject } = Promise.withResolvers<Done>();
    let over = false;
    let megabytes = 0;
    const fail = (error: Error) => {
      if (over) return;
      reject(error);
      void stop();
    };
    const end = (error: Error) => {
      if (!over) attempt.ended = true;
      fail(error);
    };
    const clock = createClock(limits, source, fail);
    heard = async (message, from) => {
      // Ignore late messages of a process that was ended.
      if (from !== child) return;
      if ('spent' in message) {
        megabytes = message.megabytes;
        return clock.spent(message.spent);
      }
      if ('ended' in message) return end(endedError(message, source, limits));
      attempt.begun = true;
      clock.progress('progress' in message && message.progress.step === 'ocr');
      try {
        if ('batch' in message) {
          await told.batch(message.batch);
          child.pipe.send({ stored: true });
        } else if ('recognise' in message) {
          // If the system fails, Tesseract takes over.
          const recognised = (await recognise?.(message.recognise).catch(() => null)) ?? null;
          child.pipe.send({ recognised });
        } else if ('progress' in message) told.progress(message.progress);
        else if ('done' in message) resolve(message.done);
        else reject(failureWithRemedy(message.failed));
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    // Its last message arrives before its end; a process killed from outside sends none.
    void child.ended.then(guarded(console.error, ({ how }) => end(lostError(how, source))));
    const onAbort = guarded(console.error, () =>
      fail(new LonghandError('cancelled', `[documents] ${source.fileName} is no longer wanted`)),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else child.pipe.send({ read: source, kind });
    return promise.finally(() => {
      over = true;
      clock.stop();
      signal.removeEventListener('abort', onAbort);
      heard = () => {};
      // Memory left behind by one document must not count against the next.
      if (megabytes > memoryMb / 2) return stop();
      idle = setTimeout(guarded(console.error, stop), limits.idleMs).unref();
    });
  }

  return {
    async read(source, kind, told, signal) {
      if (idle) clearTimeout(idle);
      if (served >= LIFE) await stop();
      const used = running !== null;
      const attempt = { begun: false, ended: false };
      return readOnce(source, kind, told, signal, attempt).catch((error) => {
        // It ended because of what an earlier document left behind, before any output of this one.
        if (!used || !attempt.ended || attempt.begun || signal.aborted) throw error;
        return readOnce(source, kind, told, signal, { begun: false, ended: false });
      });
    },
    close: stop,
  };
}

/** Time and processor time of one document. */
function createClock(limits: ParserLimits, { fileName }: Source, fail: (error: Error) => void) {
  let spent = 0;
  let spentAtProgress = 0;
  let allowed = limits.spentMs;
  const seconds = (ms: number) => Math.round(ms / 1000);
  const still = guarded(console.error, () =>
    fail(tooMuch('unreadable', 'time', `[documents] ${fileName} stood still for ${seconds(limits.stillMs)} seconds`)),
  );
  let timer = setTimeout(still, limits.stillMs);
  return {
    progress(picture: boolean) {
      clearTimeout(timer);
      timer = setTimeout(still, limits.stillMs);
      spentAtProgress = spent;
      if (picture) allowed += limits.spentOnPictureMs;
    },
    spent(ms: number) {
      spent = ms;
      if (spent <= allowed && spent - spentAtProgress <= limits.stillSpentMs) return;
      const took = spent > allowed ? spent : spent - spentAtProgress;
      const doing = spent > allowed ? 'and is not read yet' : 'on one part of it';
      fail(tooMuch('unreadable', 'time', `[documents] ${fileName} took ${seconds(took)} s of processor time ${doing}`));
    },
    stop: () => clearTimeout(timer),
  };
}

/** Restores the remedy that is sent with the error. */
function failureWithRemedy({ failure, remedy }: Extract<FromParser, { failed: unknown }>['failed']): LonghandError {
  return new LonghandError(failure.code, failure.message, { details: { ...failure.details, remedy } });
}

function endedError(
  { ended, why }: Extract<FromProcess, { ended: unknown }>,
  { fileName }: Source,
  { memoryMb }: ParserLimits,
): LonghandError {
  return ended === 'memory'
    ? tooMuch('out-of-memory', 'memory', `[documents] ${fileName} needs more than ${memoryMb} MB to be read`)
    : new LonghandError('internal', `[documents] the parser of ${fileName} failed: ${why}`);
}

/** If Longhand did not send this signal, the system ran out of memory. */
function lostError(how: string, { fileName }: Source): LonghandError {
  return how === 'signal SIGKILL'
    ? tooMuch('out-of-memory', 'memory', `[documents] ${fileName} needs more memory than there is`)
    : new LonghandError('internal', `[documents] the parser of ${fileName} ended: ${how}`);
}

/** Another attempt may succeed with more time or memory, but only the user starts it. */
const tooMuch = (code: 'unreadable' | 'out-of-memory', why: 'time' | 'memory', message: string) =>
  new LonghandError(code, message, { details: { remedy: 'retry', why } });
