import { plain } from '../chat/prompt/prompt.ts';
import type { Engine } from '../engine/client/engine-client.ts';
import type { Generation, LoadTarget } from '../engine/ipc-protocol.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import {
  type Emit,
  guarded,
  type Handlers,
  LonghandError,
  type ModelId,
  type Report,
  type Trial,
  type TrialSide,
  type TurnEvent,
  type TurnId,
} from '../protocol/index.ts';
import { newId } from '../store/database/uuid.ts';

type Options = {
  engine: Pick<Engine, 'generate' | 'cancel'>;
  models: Pick<ModelRegistry, 'target' | 'look'>;
  emit: Emit;
  now: () => number;
  report: Report;
};

/** Long enough to see how a model writes; a weak one may never end. */
const MAX_TOKENS = 512;

export type TrialService = { handlers: Pick<Handlers, 'trial.start' | 'trial.stop'>; close(): void };

/** `cancel`: of the answer that is being written. */
type Run = { stopped: boolean; cancel: () => void };

/** Has two models answer the same prompt, greedily, so that all that differs comes from the models. One after the other: both at
 *  once may not fit into memory. */
export function createTrial({ engine, models, emit, now, report }: Options): TrialService {
  let current: Run | null = null;
  const stop = () => {
    if (!current) return;
    current.stopped = true;
    current.cancel();
  };

  async function targetOf(modelId: ModelId): Promise<{ target: LoadTarget; name: string }> {
    await models.look(modelId);
    const { target, name } = models.target(modelId);
    if (target.remote) {
      throw new LonghandError('model-unsupported', `[trial] ${name} runs elsewhere`, {
        details: { reason: 'runs-elsewhere' },
      });
    }
    return { target, name };
  }

  /** Settles when the answer has ended, however it did. */
  function answered(own: Run, target: LoadTarget, prompt: string, hear: (event: TurnEvent) => void): Promise<void> {
    const turnId = newId(now()) as TurnId;
    own.cancel = guarded(report, () => engine.cancel(turnId));
    return new Promise((resolve) =>
      engine.generate({ ...questionOf(prompt), turnId, chatId: null, priority: 'chat', target }, (updates) => {
        for (const { event } of updates) {
          hear(event);
          if (event.type === 'finished' || event.type === 'failed') resolve();
        }
      }),
    );
  }

  async function run(own: Run, trial: Trial, targets: readonly LoadTarget[]): Promise<void> {
    const sides: Trial['sides'] = [...trial.sides];
    const show = (side: TrialSide, change: Partial<TrialSide>) => {
      Object.assign(side, change);
      // Another one may have begun in its place.
      if (current === own) emit('trial', { ...trial, sides });
    };
    for (const [at, target] of targets.entries()) {
      const side = sides[at];
      if (!side) continue;
      if (own.stopped) {
        show(side, { status: 'stopped' });
        continue;
      }
      show(side, { status: 'reading' });
      await answered(own, target, trial.prompt, (event) => {
        const change = changeBy(event, side.text);
        if (change) show(side, change);
      });
    }
  }

  return {
    handlers: {
      'trial.start': async ({ modelIds: [first, second], prompt }) => {
        const asked = [await targetOf(first), await targetOf(second)] as const;
        stop();
        const own: Run = { stopped: false, cancel() {} };
        current = own;
        const trial: Trial = { prompt, sides: [sideOf(first, asked[0].name), sideOf(second, asked[1].name)] };
        run(
          own,
          trial,
          asked.map(({ target }) => target),
        ).catch(report);
      },
      'trial.stop': stop,
    },
    close: stop,
  };
}

const sideOf = (modelId: ModelId, name: string): TrialSide => ({
  modelId,
  name,
  status: 'waiting',
  text: '',
  cut: false,
  tokensPerSecond: null,
  failure: null,
});

/** What an event changes of a side with this text so far; null: nothing that is shown. */
function changeBy(event: TurnEvent, text: string): Partial<TrialSide> | null {
  if (event.type === 'delta' && event.kind === 'answer') return { status: 'writing', text: text + event.text };
  if (event.type === 'retracted' && event.kind === 'answer') return { text: text.slice(0, event.from) };
  if (event.type === 'failed') return { status: 'failed', failure: event.failure };
  if (event.type !== 'finished') return null;
  const { reason, timings } = event;
  const status = reason === 'cancelled' ? 'stopped' : 'done';
  return { status, cut: reason === 'length', tokensPerSecond: timings.tokensPerSecond };
}

const questionOf = (prompt: string): Omit<Generation, 'turnId' | 'chatId' | 'priority' | 'target'> => ({
  prompt: { messages: [plain('user', prompt)], thinking: false, continuation: null },
  sampling: { temperature: 0, maxTokens: MAX_TOKENS },
  stops: [],
  thinkingBudget: { tokens: 0, seconds: null },
  loopGuard: null,
});
