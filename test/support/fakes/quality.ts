import type { EvaluationService } from '../../../app/models/evaluation/evaluation.ts';
import {
  type Emit,
  LonghandError,
  type ModelId,
  type QualityRun,
  QualitySubject,
} from '../../../app/protocol/index.ts';
import { nextId, type World } from './world.ts';

//  Tests of models in the fake core: one that begins stands still, as far as a scene wants it.

export function fakeQuality(world: World, emit: Emit): EvaluationService['handlers'] {
  const put = (run: QualityRun): QualityRun => {
    world.evaluations = [run, ...world.evaluations.filter(({ id }) => id !== run.id)];
    emit('quality.changed', run);
    return run;
  };
  const current = () => world.evaluations.find(({ state }) => state.status === 'running') ?? null;
  const running = { status: 'running', phase: 'scoring', share: 0.42, secondsLeft: 260, waiting: false } as const;
  return {
    'quality.list': ({ modelId }) => world.evaluations.filter((run) => run.modelId === modelId),
    'quality.current': current,
    'quality.plan': () => {
      if (world.qualityPlan) return world.qualityPlan;
      throw new LonghandError('bad-request', '[quality] the text is empty', {
        details: { reason: 'quality-short-text' },
      });
    },
    'quality.start': ({ modelId, test }) => {
      const named = { text: null, name: 'questions.jsonl', reference: 'Qwen3.5 4B' };
      const subject = QualitySubject.parse({ ...test, ...named });
      const id = nextId<ModelId>('evaluation');
      return put({ id, modelId, startedAt: Date.now(), subject, key: '', state: running });
    },
    'quality.stop': () => {
      const run = current();
      if (run) put({ ...run, state: { status: 'stopped' } });
    },
    'quality.resume': ({ id }) =>
      put({ ...(world.evaluations.find((run) => run.id === id) as QualityRun), state: running }),
    'quality.remove': ({ id }) => {
      const run = world.evaluations.find((one) => one.id === id);
      world.evaluations = world.evaluations.filter((one) => one !== run);
      if (run) emit('quality.removed', { modelId: run.modelId, id });
    },
    'quality.export': () => '{}\n',
  };
}
