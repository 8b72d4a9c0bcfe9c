import type { Engine } from '../engine/client/engine-client.ts';
import { benchmarkQuestion } from '../metrics/benchmark-prompt.ts';
import type { createMetrics } from '../metrics/service.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import { guarded, LonghandError, type Report, type TurnId } from '../protocol/index.ts';
import { newId } from '../store/database/uuid.ts';

type Options = { engine: Engine; models: Pick<ModelRegistry, 'target'>; now: () => number; report: Report };

/** Asks a model the benchmark question; nothing is stored. */
export function createBenchmarkAsker(options: Options): Parameters<typeof createMetrics>[0]['ask'] {
  const { engine, models, now, report } = options;
  return ({ modelId, prompt, signal, onEvent }) => {
    const turnId = newId(now()) as TurnId;
    const { target, name } = models.target(modelId);
    if (target.remote) throw new LonghandError('model-unsupported', `[benchmark] ${name} runs elsewhere`);
    const own = { turnId, chatId: null, priority: 'chat', target } as const;
    engine.generate({ ...benchmarkQuestion(prompt), ...own }, (updates) => {
      for (const { event } of updates) onEvent(event);
    });
    signal.addEventListener(
      'abort',
      guarded(report, () => engine.cancel(turnId)),
    );
    return { model: name };
  };
}
