import { join } from 'node:path';
import type { StartConverter } from '../../conversion/process/messages.ts';
import {
  canChat,
  type Emit,
  type EngineStatus,
  failureOf,
  guarded,
  type Handlers,
  LonghandError,
  type ModelId,
  type QualityReference,
  type QualityRun,
  type QualityTest,
  type Report,
  type Response,
  type Settings,
} from '../../protocol/index.ts';
import type { ComparedWith, Evaluation, Opens } from '../../quality/evaluation/evaluate.ts';
import { jsonOf } from '../../quality/report.ts';
import type { Database } from '../../store/database/database.ts';
import { newId } from '../../store/database/uuid.ts';
import {
  addEvaluation,
  type EvaluationRow,
  type EvaluationState,
  findEvaluation,
  listEvaluations,
  removeEvaluation,
  removeEvaluationsOf,
  setEvaluation,
  tidyEvaluations,
} from '../../store/models/evaluations.ts';
import type { ModelRegistry } from '../registry/model-registry.ts';
import { type Converter, startConverter } from '../shrinking/converter.ts';
import { createTimeLeft } from '../shrinking/time-left.ts';
import { exists } from '../storage/fs-probe.ts';
import { beginFolder, folderOf, materialOf, referencesOf, removeFolder, sweepFolders } from './folders.ts';
import { needTest, type TakenApart, takeApart } from './test.ts';

export type EvaluationService = {
  handlers: Pick<
    Handlers,
    | 'quality.list'
    | 'quality.current'
    | 'quality.plan'
    | 'quality.start'
    | 'quality.stop'
    | 'quality.resume'
    | 'quality.remove'
    | 'quality.export'
  >;
  /** While the engine answers, nothing further is begun. */
  engineStatus(status: EngineStatus): void;
  /** Stops a test that uses this model, whose files are about to go. */
  letGo(modelId: ModelId): Promise<void>;
  /** Removes everything that was found out about a model. */
  forget(modelId: ModelId): Promise<void>;
  /** Stops the test under way; the next start can go on with it. */
  close(): Promise<void>;
};

export type EvaluationOptions = {
  db: Database;
  /** Null: this shell has no such process. */
  start: StartConverter | null;
  library: Pick<ModelRegistry, 'find' | 'look' | 'filesOf' | 'list' | 'entryOf'>;
  /** In the profile. */
  folder: string;
  settings: () => Pick<Settings, 'device' | 'threads'>;
  emit: Emit;
  now: () => number;
  report: Report;
};

type Running = {
  row: EvaluationRow;
  shown: Extract<QualityRun['state'], { status: 'running' }>;
  converter: Converter | null;
  /** Somebody wants it to end. */
  stopping: boolean;
  ended: Promise<void>;
};

const PURPOSE = { where: 'quality', lost: 'quality-lost' } as const;

export function createEvaluation(options: EvaluationOptions): EvaluationService {
  const { db, library, folder: root, emit, now, report } = options;
  let running: Running | null = null;
  let busy = false;
  /** Those that have a folder. */
  const unfinished = new Set(tidyEvaluations(db));
  const sweep = async () => {
    const models = new Set<string>((await library.list()).map(({ id }) => id));
    await sweepFolders(
      root,
      (id) => unfinished.has(id),
      (id) => models.has(id),
    );
  };
  sweep().catch(() => {}); // tried again at the next start

  const stateOf = (row: EvaluationRow): QualityRun['state'] => {
    if (running?.row.id === row.id) return running.shown;
    const { state, seconds } = row;
    if (state.status === 'running') return { status: 'stopped' };
    return state.status === 'done' ? { ...state, seconds } : state;
  };
  const runOf = (row: EvaluationRow): QualityRun => {
    const { id, modelId, startedAt, subject, key } = row;
    return { id, modelId, startedAt, subject, key, state: stateOf(row) };
  };
  const tell = (row: EvaluationRow) => emit('quality.changed', runOf(row));

  function needRest(): void {
    if (!running) return;
    throw new LonghandError('conflict', '[quality] a test is running; one at a time is allowed', {
      details: { reason: 'quality-busy' },
    });
  }

  async function opensOf(modelId: ModelId): Promise<Opens> {
    const row = library.find(modelId);
    if (!canChat(library.entryOf(row))) {
      throw new LonghandError('model-unsupported', `[quality] ${row.name} only reads; a model that writes is allowed`, {
        details: { reason: 'writes-nothing' },
      });
    }
    await library.look(modelId);
    const { device, threads } = options.settings();
    return { path: library.filesOf(modelId), device, threads };
  }

  const nameOf = (reference: QualityReference): string =>
    reference.from === 'model' ? library.find(reference.modelId).name : reference.path;

  async function comparedWith(reference: QualityReference | null): Promise<ComparedWith | null> {
    if (reference === null) return null;
    if (reference.from === 'model') {
      const { modelId } = reference;
      const opens = await opensOf(modelId);
      return { from: 'model', opens, name: library.find(modelId).name, folder: referencesOf(root, modelId) };
    }
    if (await exists(reference.path)) return reference;
    throw new LonghandError('not-found', `[quality] nothing is at ${reference.path}`, {
      details: { reason: 'no-file' },
    });
  }

  async function evaluationOf(
    modelId: ModelId,
    { subject, reference, material }: Pick<TakenApart, 'subject' | 'reference' | 'material'>,
  ): Promise<Evaluation> {
    return { model: await opensOf(modelId), test: subject, material, reference: await comparedWith(reference) };
  }

  function taken(modelId: ModelId, test: QualityTest): TakenApart {
    const parts = takeApart(test, nameOf);
    needTest(parts, library.find(modelId).metadata?.description ?? null);
    return parts;
  }

  function starter(): StartConverter {
    if (options.start) return options.start;
    throw new LonghandError('bad-request', '[quality] no models are tested here, but in the app');
  }

  async function plan(modelId: ModelId, test: QualityTest, signal?: AbortSignal): Promise<Response<'quality.plan'>> {
    needRest();
    const asked = await evaluationOf(modelId, taken(modelId, test));
    const converter = await startConverter(starter(), PURPOSE, () => {}, report);
    const end = guarded(report, converter.kill);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    else converter.send({ forecast: asked });
    const answer = await converter.result.finally(() => signal?.removeEventListener('abort', end));
    if (!('forecast' in answer)) throw unasked();
    return answer.forecast;
  }

  /** Keeps how it is, and tells it. */
  async function settle(own: Running, state: EvaluationState, since: number): Promise<void> {
    const row = { ...own.row, seconds: own.row.seconds + (performance.now() - since) / 1000, state };
    // Its model may have been removed meanwhile.
    const there = findEvaluation(db, row.id) !== undefined;
    try {
      if (there) setEvaluation(db, row.id, row);
      if (state.status === 'done') await removeFolder(folderOf(root, row.id)).catch(() => {}); // tried again at the next start
    } finally {
      running = null;
    }
    if (there) tell(row);
  }

  async function work(own: Running, asked: Evaluation): Promise<void> {
    const since = performance.now();
    const timeLeft = createTimeLeft(() => performance.now());
    const folder = folderOf(root, own.row.id);
    try {
      const hear = guarded(report, (message: Parameters<Parameters<typeof startConverter>[2]>[0]) => {
        if (!('evaluation' in message) || own.stopping) return;
        const { phase, share, waiting } = message.evaluation;
        own.shown = { status: 'running', phase, share, waiting, secondsLeft: timeLeft(phase, share) };
        tell(own.row);
      });
      own.converter = await startConverter(starter(), PURPOSE, hear, report);
      if (own.stopping) own.converter.kill();
      else {
        own.converter.send({ evaluate: { ...asked, folder } });
        own.converter.send({ wait: busy });
      }
      const answer = await own.converter.result;
      if (!('evaluated' in answer)) throw unasked();
      await settle(own, { status: 'done', result: answer.evaluated }, since);
    } catch (error) {
      await settle(own, own.stopping ? { status: 'stopped' } : { status: 'failed', failure: failureOf(error) }, since);
    }
  }

  function launch(row: EvaluationRow, asked: Evaluation): QualityRun {
    const own: Running = {
      row,
      shown: { status: 'running', phase: 'loading', share: 0, secondsLeft: null, waiting: busy },
      converter: null,
      stopping: false,
      ended: Promise.resolve(),
    };
    running = own;
    tell(row);
    own.ended = work(own, asked);
    own.ended.catch(report);
    return runOf(row);
  }

  async function begin(modelId: ModelId, test: QualityTest): Promise<QualityRun> {
    needRest();
    const parts = taken(modelId, test);
    const asked = await evaluationOf(modelId, parts);
    const id = newId(now());
    unfinished.add(id);
    await beginFolder(root, id, parts.material);
    if (parts.reference?.from === 'model') await beginFolder(root, join('references', parts.reference.modelId), null);
    needRest(); // another window may have been faster
    const { subject, reference, key } = parts;
    const row = { id, modelId, startedAt: now(), key, subject, reference, seconds: 0, state: RUNNING };
    addEvaluation(db, row);
    return launch(row, asked);
  }

  async function resume(id: string): Promise<QualityRun> {
    needRest();
    const row = needed(id);
    if (row.state.status === 'done') return runOf(row);
    const { subject, reference } = row;
    const texts =
      subject.kind === 'choices' || subject.kind === 'reading' || ('text' in subject && subject.text !== null);
    const material = texts ? await materialOf(root, id) : null;
    const asked = await evaluationOf(row.modelId, { subject, reference, material });
    needRest();
    const next = { ...row, state: RUNNING };
    setEvaluation(db, id, next);
    return launch(next, asked);
  }

  function needed(id: string): EvaluationRow {
    const row = findEvaluation(db, id);
    if (row) return row;
    throw new LonghandError('not-found', `[quality] there is no test ${id}`);
  }

  async function stop(): Promise<void> {
    const own = running;
    if (!own) return;
    own.stopping = true;
    own.converter?.kill();
    await own.ended.catch(() => {});
  }

  async function remove(id: string): Promise<void> {
    const { modelId } = needed(id);
    if (running?.row.id === id) await stop();
    removeEvaluation(db, id);
    emit('quality.removed', { modelId, id });
    await removeFolder(folderOf(root, id)).catch(() => {}); // tried again at the next start
  }

  const usedBy = ({ row }: Running, modelId: ModelId): boolean =>
    row.modelId === modelId || (row.reference?.from === 'model' && row.reference.modelId === modelId);

  return {
    handlers: {
      'quality.list': ({ modelId }) => listEvaluations(db, modelId).map(runOf),
      'quality.current': () => running && runOf(running.row),
      'quality.plan': ({ modelId, test }, signal) => plan(modelId, test, signal),
      'quality.start': ({ modelId, test }) => begin(modelId, test),
      'quality.stop': stop,
      'quality.resume': ({ id }) => resume(id),
      'quality.remove': ({ id }) => remove(id),
      'quality.export': ({ modelId }) => exported(library.find(modelId).name, listEvaluations(db, modelId)),
    },
    engineStatus(status) {
      const next = status.phase === 'busy' || status.phase === 'loading';
      if (next === busy) return;
      busy = next;
      running?.converter?.send({ wait: busy });
    },
    async letGo(modelId) {
      if (running && usedBy(running, modelId)) await stop();
    },
    async forget(modelId) {
      const ids = listEvaluations(db, modelId).map(({ id }) => id);
      removeEvaluationsOf(db, modelId);
      for (const folder of [...ids.map((id) => folderOf(root, id)), referencesOf(root, modelId)])
        await removeFolder(folder).catch(() => {}); // tried again at the next start
    },
    close: stop,
  };
}

const RUNNING = { status: 'running' } as const;

const unasked = () => new LonghandError('internal', '[quality] the process answered something else than was asked');

/** With the names of the command line. */
function exported(model: string, rows: readonly EvaluationRow[]): string {
  const results = rows.flatMap(({ subject, startedAt, seconds, state }) =>
    state.status === 'done'
      ? [{ test: subject, started_at: new Date(startedAt).toISOString(), seconds, ...jsonOf(state.result) }]
      : [],
  );
  return `${JSON.stringify({ model, results }, null, 2)}\n`;
}
