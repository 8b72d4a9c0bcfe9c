import { mkdir } from 'node:fs/promises';
import { relative } from 'node:path';
import type { FromConverter, Goal, StartConverter, ToConverter } from '../../conversion/process/messages.ts';
import {
  type Emit,
  failureOf,
  guarded,
  type Handlers,
  LonghandError,
  type ModelId,
  type ModelQuality,
  methodsOf,
  type Report,
  type Request,
  type Response,
  type Shrinking,
} from '../../protocol/index.ts';
import { freeSpace } from '../downloads/part-file.ts';
import { unmountedError } from '../registry/model-errors.ts';
import type { ModelRegistry } from '../registry/model-registry.ts';
import { MADE, type Manifest } from '../storage/blob-store.ts';
import type { LibraryLocation } from '../storage/library-location.ts';
import type { RwLock } from '../storage/rw-lock.ts';
import { startConverter } from './converter.ts';
import { beginMade, finishMade, type MadePlace, placeFor, removeMade, sweepMade } from './made-folders.ts';
import { smallerName } from './smaller-name.ts';
import { createTimeLeft } from './time-left.ts';

//  Smaller versions of models, and ones with a smaller context memory: one at a time, made by a process of its own.
//
//  nothing ──shrink──▶ preparing ──begun──▶ calibrating … checking ──made──▶ in the library: done
//                          │                          │
//                          └──────────────────────────┴── refused, failed, cancelled, ended by itself: nothing is left

export type ShrinkService = {
  handlers: Pick<
    Handlers,
    | 'models.shrinkPlan'
    | 'models.shrink'
    | 'models.latentPlan'
    | 'models.convert'
    | 'models.shrinking'
    | 'models.cancelShrink'
  >;
  /** What moves the files of models. @throws LonghandError `conflict` while one is made */
  atRest<T>(work: () => T): T;
  /** Ends what is being made, of which nothing is left. */
  close(): Promise<void>;
};

export type ShrinkOptions = {
  /** Null: this shell has no such process. */
  start: StartConverter | null;
  library: Pick<ModelRegistry, 'find' | 'look' | 'filesOf' | 'list' | 'add'>;
  location: LibraryLocation;
  lock: RwLock;
  /** Whether the library is being moved. */
  moving: () => boolean;
  /** The card of a model that was made. */
  qualityOf: (path: string) => Promise<ModelQuality | null>;
  emit: Emit;
  now: () => number;
  report: Report;
};

type Making = { stop: AbortController; ended: Promise<void>; place: MadePlace | null };

/** For a plan, which reads headers from a disk that may be slow. */
const PLAN_MS = 60_000;

export function createShrinking(options: ShrinkOptions): ShrinkService {
  const { library, location, lock, emit, now, report } = options;
  let making: Making | null = null;
  let state: Shrinking | null = null;
  const show = (next: Shrinking | null) => {
    state = next;
    emit('model.shrinking', next);
  };

  function needRest(): void {
    if (!making) return;
    throw new LonghandError('conflict', '[shrink] a smaller version is being made; one thing at a time is allowed', {
      details: { reason: 'shrink-busy' },
    });
  }

  async function planned(modelId: ModelId, kind: Goal['kind'], signal?: AbortSignal) {
    const source = await sourceOf(modelId);
    const folder = await libraryFolder();
    const late = AbortSignal.timeout(PLAN_MS);
    const answer = await ask({ plan: { source, kind } }, () => {}, signal ? AbortSignal.any([signal, late]) : late);
    return { answer, free: await freeSpace(folder) };
  }

  async function plan(modelId: ModelId, signal?: AbortSignal): Promise<Response<'models.shrinkPlan'>> {
    const { answer, free } = await planned(modelId, 'weights', signal);
    if (!('planned' in answer)) throw unasked();
    return { modelId, free, ...answer.planned };
  }

  async function latentPlan(modelId: ModelId, signal?: AbortSignal): Promise<Response<'models.latentPlan'>> {
    const { answer, free } = await planned(modelId, 'context', signal);
    if (!('latent' in answer)) throw unasked();
    return { modelId, free, ...answer.latent };
  }

  /** One request to a process of its own, which ends with it. */
  async function ask(message: ToConverter, hear: (message: FromConverter) => void, signal: AbortSignal) {
    if (!options.start) throw new LonghandError('bad-request', '[shrink] no models are made here, but in the app');
    const converter = await startConverter(options.start, { where: 'shrink', lost: 'shrink-lost' }, hear, report);
    const end = guarded(report, converter.kill);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    else converter.send(message);
    return converter.result.finally(() => signal.removeEventListener('abort', end));
  }

  /** What is made smaller, if it can be, whatever its tensors are. */
  async function sourceOf(modelId: ModelId): Promise<string> {
    const { name, metadata } = library.find(modelId);
    if (metadata?.description.encoder || metadata?.description.reranker) {
      throw new LonghandError('model-unsupported', `[shrink] ${name} only reads; a model that writes is allowed`, {
        details: { reason: 'shrink-reads-only' },
      });
    }
    await library.look(modelId);
    return library.filesOf(modelId);
  }

  async function libraryFolder(): Promise<string> {
    if (!(await location.look())) throw unmountedError(location.folder());
    await mkdir(location.folder(), { recursive: true });
    return location.folder();
  }

  /** Resolves when the model is in the library. `begins` is called when everything has been checked. */
  async function make(own: Making, modelId: ModelId, goal: Goal, begins: () => void): Promise<void> {
    const { signal } = own.stop;
    const source = await sourceOf(modelId);
    const folder = await libraryFolder();
    const original = library.find(modelId).name;
    const name = smallerName(original, goal, await namesInUse());
    const place = placeFor(folder, name, goal);
    own.place = place;
    const timeLeft = createTimeLeft(() => performance.now());
    let begun = false;
    show({ status: 'running', modelId, name, phase: 'preparing', share: 0, secondsLeft: null });
    try {
      const job = { source, out: await beginMade(place), known: place.opens, goal };
      const answer = await ask(
        { make: job },
        (message) => {
          if ('begun' in message) {
            begun = true;
            begins();
          }
          if (!('progress' in message) || signal.aborted) return;
          const { phase, share } = message.progress;
          show({ status: 'running', modelId, name, phase, share, secondsLeft: timeLeft(phase, share) });
        },
        signal,
      );
      signal.throwIfAborted();
      if (!('made' in answer)) throw unasked();
      const files = answer.made.map((file) => ({ ...file, etag: null }));
      const made = await accept(place, {
        name,
        source: MADE,
        repository: original,
        commit: '',
        files,
        checkedAt: now(),
      });
      show({ status: 'done', modelId, name, madeId: made.id, quality: await options.qualityOf(place.opens) });
    } catch (error) {
      await removeMade(folder, place).catch(() => {}); // tried again at the next start
      const failed = begun && !signal.aborted;
      show(failed ? { status: 'failed', modelId, name, failure: failureOf(error) } : null);
      throw signal.aborted ? new LonghandError('cancelled', '[shrink] cancelled; nothing was kept') : error;
    }
  }

  const namesInUse = async () => (await library.list()).map(({ name }) => name);

  const accept = (place: MadePlace, manifest: Manifest) =>
    lock.shared(async () => {
      await finishMade(place, manifest);
      return library.add(place.opens, manifest.name);
    });

  /** Removes what an earlier run left unfinished; what it finished without listing it is listed. */
  async function tidy(): Promise<void> {
    if (!(await location.look())) return;
    const current = (folder: string) => making?.place != null && folder.startsWith(making.place.folder);
    for (const { folder, opens, name } of await sweepMade(location.folder(), current)) {
      const listed = (await library.list()).some(
        ({ path }) => path !== null && !relative(folder, path).startsWith('..'),
      );
      if (!listed && !current(folder)) await library.add(opens, name);
    }
  }
  tidy().catch(() => {}); // tried again at the next start

  /** Resolves when everything has been checked, and it begins. */
  async function begin(modelId: ModelId, goal: Goal): Promise<void> {
    if (options.moving()) {
      throw new LonghandError('conflict', '[shrink] the library is being moved', {
        details: { reason: 'shrink-moving' },
      });
    }
    const begun = Promise.withResolvers<void>();
    const own: Making = { stop: new AbortController(), ended: begun.promise, place: null };
    making = own;
    own.ended = make(own, modelId, goal, begun.resolve).finally(() => {
      making = null;
    });
    own.ended.catch(() => {}); // told by the state, once it has begun
    await Promise.race([begun.promise, own.ended]);
  }

  return {
    atRest(work) {
      needRest();
      return work();
    },
    handlers: {
      'models.shrinkPlan': ({ modelId }, signal) => plan(modelId, signal),
      'models.shrink': async ({ modelId, ...asked }) => {
        needRest();
        needMethod(asked);
        await begin(modelId, { kind: 'weights', ...asked });
      },
      'models.latentPlan': ({ modelId }, signal) => latentPlan(modelId, signal),
      'models.convert': async ({ modelId, form }) => {
        needRest();
        await begin(modelId, { kind: 'context', form });
      },
      'models.shrinking': () => state,
      'models.cancelShrink': async () => {
        if (!making) return show(null);
        making.stop.abort();
        await making.ended.catch(() => {});
      },
    },
    async close() {
      making?.stop.abort();
      await making?.ended.catch(() => {});
    },
  };
}

const unasked = () => new LonghandError('internal', '[shrink] the process answered something else than was asked');

/** @throws LonghandError `bad-request` */
function needMethod({ form, method }: Pick<Request<'models.shrink'>, 'form' | 'method'>): void {
  const allowed = methodsOf(form, true);
  if (allowed.includes(method)) return;
  throw new LonghandError(
    'bad-request',
    `[shrink] ${method} came with ${form.format}; allowed are ${allowed.join(', ')}`,
  );
}
