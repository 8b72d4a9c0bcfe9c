import type * as Addon from '../../../native/addon/index.d.ts';
import type { QualityPlan, QualityResult } from '../../protocol/index.ts';
import { type Evaluation, evaluate, filesOf } from '../../quality/evaluation/evaluate.ts';
import { forecast } from '../../quality/evaluation/forecast.ts';
import { openParts, printOf } from '../../quality/evaluation/parts.ts';
import type { Progress, Stage } from '../../quality/evaluation/subject.ts';
import { straight } from '../../quality/step.ts';
import { manual } from '../making/manual.ts';
import type { FromConverter } from './messages.ts';

type Surroundings = {
  addon: typeof Addon;
  /** The folder of the manual, and the entry file of the process that renders chat templates. */
  manual: string;
  worker: string;
  signal: AbortSignal;
  tell: (message: FromConverter) => void;
};

const REPORT_MS = 200;
const silent: Progress = { show() {}, end() {} };

/** Lets one work at a time that others may hold up. */
export type Gate = { hold(held: boolean): void; pending(): Promise<void> | null };

export function createGate(): Gate {
  let opens: (() => void) | null = null;
  let closed: Promise<void> | null = null;
  return {
    hold(held) {
      if (held) {
        closed ??= new Promise((resolve) => {
          opens = resolve;
        });
      } else {
        opens?.();
        closed = null;
      }
    },
    pending: () => closed,
  };
}

export const forecastModel = (
  { addon, manual: pages, worker, signal }: Surroundings,
  asked: Evaluation,
): Promise<QualityPlan> =>
  forecast(
    { addon, worker, signal, manual: () => manual(pages, 'measure'), progress: () => silent, step: straight },
    asked,
  );

/** `folder`: of the parts that are done. While `gate` is held nothing further is begun. */
export async function evaluateModel(
  { addon, manual: pages, worker, signal, tell }: Surroundings,
  { folder, ...asked }: Evaluation & { folder: string },
  gate: Gate,
): Promise<QualityResult> {
  let shown: { phase: Exclude<Stage, 'prompt'>; share: number } = { phase: 'loading', share: 0 };
  const show = () => tell({ evaluation: { ...shown, waiting: gate.pending() !== null } });
  const turn = async () => {
    if (!gate.pending()) return;
    for (let pending = gate.pending(); pending; pending = gate.pending()) {
      show();
      await pending;
    }
    show();
  };
  const others = asked.reference?.from === 'model' ? await filesOf(asked.reference.opens.path) : null;
  const print = printOf(await filesOf(asked.model.path), others, asked.test, asked.material);
  const { step, replaying } = await openParts(folder, print, turn);
  let told = 0;
  const progress = (stage: Stage): Progress => {
    if (stage === 'prompt') return silent;
    const tellOf = (share: number) => {
      shown = { phase: stage, share };
      if (performance.now() - told < REPORT_MS && share > 0) return;
      told = performance.now();
      show();
    };
    tellOf(0);
    return {
      show: (done, total) => total > 0 && !replaying() && tellOf(Math.min(1, done / total)),
      end() {},
    };
  };
  const pause = () => (gate.pending() ? turn() : null);
  return evaluate({ addon, worker, signal, manual: () => manual(pages, 'measure'), progress, step, pause }, asked);
}
