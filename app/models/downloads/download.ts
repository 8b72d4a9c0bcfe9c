import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Bytes, codeOfFailed, DownloadError } from '../network/download-error.ts';
import { type Network, network } from '../network/http-request.ts';
import { sleepFor } from '../network/sleep.ts';
import type { RemoteFile } from '../sources/remote-file.ts';
import { BLOCK } from '../storage/block-map.ts';
import { afterFull, isDiskFull, type Space, untilRoom, whenRoom } from '../storage/disk-space.ts';
import type { DownloadState } from './download-state.ts';
import type { FileJournal, Journal } from './journal.ts';
import { openPartFile, type PartFile, roomOn } from './part-file.ts';
import { Rate, Throttle } from './throttle.ts';
import { runConnection, saveFinished, type Transfer } from './transfer.ts';
import { blocksThatDiffer, damagedBlocks } from './verify-blocks.ts';

export type DownloadOptions = {
  journal: Journal;
  /** The path while incomplete, and the final path, on the same volume. */
  partPath: string;
  targetPath: string;
  connections?: number;
  throttle?: Throttle;
  net?: Network;
  now?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Bytes that may be written to a folder's volume: negative if it is nearly full. */
  free?: (path: string) => Promise<Bytes>;
  /** False while the drive of these paths is not mounted: missing files are not treated as lost then. */
  there?: () => Promise<boolean>;
  /** First wait after a failure; doubles up to a minute, with jitter. */
  backOffMs?: number;
};

const COMMIT_MS = 500;
const REPORT_MS = 250;
/** Consecutive server failures without a single new block before a file is given up. */
const MAX_ATTEMPTS = 10;

/** Downloads one file so that no fault costs more than the blocks in flight. Resumes from the journal, which the caller
 *  clears once the file has been moved. Ends with `done`, `failed` or `cancelled` (the signal). */
export async function* download(
  file: RemoteFile,
  options: DownloadOptions,
  signal: AbortSignal,
): AsyncGenerator<DownloadState> {
  const run = new Run(file, options, signal);
  try {
    yield* run.go();
  } catch (error) {
    if (signal.aborted) yield { phase: 'cancelled' };
    else yield run.failure(error);
  } finally {
    await run.close();
  }
}

class Run {
  readonly #file: RemoteFile;
  readonly #options: DownloadOptions;
  readonly #signal: AbortSignal;
  #opened: FileJournal | null = null;
  readonly #net: Network;
  readonly #throttle: Throttle;
  readonly #now: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #space: Space;
  readonly #rate: Rate;
  #part: PartFile | null = null;

  constructor(file: RemoteFile, options: DownloadOptions, signal: AbortSignal) {
    this.#file = file;
    this.#options = options;
    this.#signal = signal;
    this.#net = options.net ?? network;
    this.#throttle = options.throttle ?? new Throttle(null);
    this.#now = options.now ?? (() => performance.now());
    this.#sleep = options.sleep ?? sleepFor;
    this.#space = {
      left: () => file.size - (this.#opened?.map.bytesHere ?? 0),
      room: () => this.#room(options.free ?? roomOn),
      sleep: (ms) => this.#sleep(ms, signal),
    };
    this.#rate = new Rate(this.#now);
  }

  async *go(): AsyncGenerator<DownloadState> {
    yield* this.#reserve();
    yield* this.#fetchAll();
    let sha256 = yield* this.#hash();
    for (let round = 0; this.#file.sha256 !== null && sha256 !== this.#file.sha256; round++) {
      if (round === 2) {
        throw new DownloadError(
          'hash-mismatch',
          `[download] ${this.#file.name} has SHA-256 ${sha256}, published is ${this.#file.sha256}`,
        );
      }
      yield* this.#repair();
      yield* this.#fetchAll();
      sha256 = yield* this.#hash();
    }
    yield* this.#inRoom(() => this.#openPart.moveTo(this.#options.targetPath));
    this.#part = null;
    const blocks = this.#journal.hashes();
    yield {
      phase: 'done',
      path: this.#options.targetPath,
      bytes: this.#file.size,
      sha256,
      blocks,
    };
  }

  failure(error: unknown): DownloadState {
    const done = this.#done;
    return { phase: 'failed', code: codeOfFailed(error), message: messageOf(error), done };
  }

  async close(): Promise<void> {
    await this.#part?.close();
    this.#part = null;
  }

  get #openPart(): PartFile {
    if (!this.#part) throw new DownloadError('disk', '[download] the part file is not open');
    return this.#part;
  }

  get #journal(): FileJournal {
    if (!this.#opened) throw new DownloadError('disk', '[download] the journal is not open');
    return this.#opened;
  }
  get #done(): Bytes {
    return this.#opened?.map.bytesHere ?? 0;
  }

  /** Opens the part file and verifies the blocks in the journal. */
  async *#reserve(): AsyncGenerator<DownloadState> {
    const { partPath, journal, there } = this.#options;
    this.#opened = yield* this.#inRoom(() => journal.open(this.#file));
    if (!this.#journal.map.complete) yield* this.#waiting(untilRoom(this.#space));
    const part = yield* this.#inRoom(() => openPartFile(partPath, this.#file.size));
    this.#part = part;
    if (part.existed || this.#journal.map.bytesHere === 0) return;
    if ((await there?.()) === false) throw new DownloadError('disk', '[download] the drive is not available');
    yield* this.#inRoom(() => this.#journal.restart());
  }

  /** Runs work that needs disk space, waiting until there is some. */
  #inRoom<T>(work: () => T | Promise<T>): AsyncGenerator<DownloadState, T> {
    return this.#waiting(whenRoom(work, this.#space));
  }

  async *#waiting<T>(waits: AsyncGenerator<Bytes, T>): AsyncGenerator<DownloadState, T> {
    for (;;) {
      const next = await waits.next();
      if (next.done) return next.value;
      yield { phase: 'waitingForSpace', done: this.#done, missing: next.value };
    }
  }

  async #room(free: (path: string) => Promise<Bytes>): Promise<Bytes> {
    const folder = dirname(this.#options.partPath);
    try {
      await mkdir(folder, { recursive: true });
    } catch (error) {
      if (isDiskFull(error)) return 0;
      throw error;
    }
    return free(folder);
  }

  /** Downloads until every block is here, across any number of transient failures. */
  async *#fetchAll(): AsyncGenerator<DownloadState> {
    let attempt = 0;
    while (!this.#journal.map.complete) {
      const before = this.#journal.map.bytesHere;
      const error = yield* this.#fetchOnce();
      if (!error) continue;
      if (isDiskFull(error)) {
        yield* this.#waiting(afterFull(this.#space));
        continue;
      }
      if (!(error instanceof DownloadError)) throw error;
      attempt = this.#journal.map.bytesHere > before ? 1 : attempt + 1;
      if (!error.transient || (error.code !== 'network' && attempt >= MAX_ATTEMPTS)) throw error;
      yield { phase: 'waitingForNetwork', done: this.#journal.map.bytesHere, attempt, reason: error.message };
      await this.#sleep(error.retryAfter === null ? this.#backOff(attempt) : error.retryAfter * 1000, this.#signal);
    }
  }

  #backOff(attempt: number): number {
    const base = this.#options.backOffMs ?? 500;
    return Math.min(60_000, base * 2 ** Math.min(attempt - 1, 10)) * (0.5 + Math.random());
  }

  /** One attempt with all connections. Returns the error that ended it, after saving what arrived. */
  async *#fetchOnce(): AsyncGenerator<DownloadState, unknown> {
    const stop = new AbortController();
    const transfer: Transfer = {
      file: this.#file,
      part: this.#openPart,
      journal: this.#journal,
      net: this.#net,
      throttle: this.#throttle,
      signal: AbortSignal.any([this.#signal, stop.signal]),
      progress: (bytes) => this.#rate.add(bytes),
      finished: [],
    };
    let failure: unknown = null;
    let running = true;
    const broken = (error: unknown) => {
      failure ??= error;
      stop.abort(error);
    };
    const save = () => saveFinished(transfer).catch(broken);
    const all = Promise.allSettled(
      Array.from({ length: this.#options.connections ?? 4 }, () => runConnection(transfer).catch(broken)),
    ).then(() => {
      running = false;
    });
    let saved = this.#now();
    while (running) {
      await Promise.race([all, this.#sleep(REPORT_MS, this.#signal).catch(() => all)]);
      if (running && this.#now() - saved >= COMMIT_MS) {
        await save();
        saved = this.#now();
      }
      if (running) yield this.#transferring();
    }
    await save();
    this.#signal.throwIfAborted();
    return failure;
  }

  #transferring(): DownloadState {
    const done = this.#journal.map.bytesHere;
    return {
      phase: 'transferring',
      done,
      rate: this.#rate.bytesPerSecond(),
      secondsLeft: this.#rate.secondsLeft(this.#file.size - done),
    };
  }

  async *#hash(): AsyncGenerator<DownloadState, string> {
    yield { phase: 'verifying', checked: 0 };
    let checked = 0;
    let result: string | null = null;
    const hashing = this.#openPart.hash((bytes) => (checked = bytes), this.#signal).then((sha256) => (result = sha256));
    while (result === null) {
      await Promise.race([hashing, this.#sleep(REPORT_MS, this.#signal)]);
      yield { phase: 'verifying', checked };
    }
    return result;
  }

  /** Finds the damaged blocks: first by the hashes of what was written, then by downloading the file again for comparison. */
  async *#repair(): AsyncGenerator<DownloadState> {
    const damaged = await damagedBlocks(this.#openPart, this.#journal, this.#signal);
    if (damaged.length === 0) damaged.push(...(yield* this.#compareWithRemote()));
    yield* this.#inRoom(() => this.#journal.drop(damaged));
    yield {
      phase: 'repairing',
      damaged: damaged.reduce((sum, block) => sum + this.#journal.map.length(block), 0),
      done: this.#journal.map.bytesHere,
    };
  }

  async *#compareWithRemote(): AsyncGenerator<DownloadState, number[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const damaged: number[] = [];
        for await (const { block, differs } of blocksThatDiffer(this.#file, this.#journal, this.#net, this.#signal)) {
          if (differs) damaged.push(block);
          if (block % 64 === 0)
            yield { phase: 'repairing', damaged: damaged.length * BLOCK, done: this.#journal.map.start(block) };
        }
        return damaged;
      } catch (error) {
        if (!(error instanceof DownloadError) || !error.transient || attempt >= MAX_ATTEMPTS) throw error;
        yield { phase: 'waitingForNetwork', done: this.#journal.map.bytesHere, attempt, reason: error.message };
        await this.#sleep(this.#backOff(attempt), this.#signal);
      }
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Discards a file: its part and its journal. */
export async function discard(file: RemoteFile, options: Pick<DownloadOptions, 'journal' | 'partPath'>): Promise<void> {
  options.journal.forget(file.key);
  await rm(options.partPath, { force: true });
}
