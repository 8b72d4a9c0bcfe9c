import type * as Addon from '../../../native/addon/index.d.ts';
import { abortFlag } from '../../engine/process/addon.ts';
import { readModelText } from '../../engine/process/model/tokenizer-files.ts';
import type { QUALITY_PHASES } from '../../protocol/index.ts';
import type { ModelText } from '../../text/model-text.ts';
import type { Scorer } from '../scorer.ts';
import type { Step } from '../step.ts';

/** What takes time. `prompt`: one prompt among several is read. */
export type Stage = (typeof QUALITY_PHASES)[number] | 'prompt';

export type Progress = { show(done: number, total: number): void; end(): void };

/** What the work needs of its surroundings: a terminal, or a process of the app. */
export type Surroundings = {
  readonly addon: typeof Addon;
  /** Entry file of the process that renders chat templates. */
  readonly worker: string;
  readonly signal: AbortSignal;
  progress(stage: Stage): Progress;
  readonly step: Step;
  /** What has to be waited for before a model goes on writing; null: nothing. */
  readonly pause?: () => Promise<void> | null;
};

/** A model that is evaluated. */
export type Subject = Surroundings & {
  readonly native: Addon.Model;
  readonly text: ModelText;
  /** Scores texts in fp32, unless another precision was asked for. */
  readonly score: Scorer;
  readonly precision: Addon.NumericPath | undefined;
  /** Of every session that is opened for it. */
  readonly context: { contextLength?: number; kvType?: Addon.KvType };
};

export type Opened = {
  readonly native: Addon.Model;
  readonly path: string;
  readonly precision?: Addon.NumericPath | undefined;
  /** The context of its sessions; absent: the model's own. */
  readonly sessionTokens?: number;
  /** The precision in which its context is kept; absent: fp32 on the exact path, fp16 on the fast one. */
  readonly kvType?: Addon.KvType | undefined;
};

/** @throws LonghandError `model-broken` without a usable tokenizer */
export async function withSubject<T>(
  surroundings: Surroundings,
  { native, path, precision, sessionTokens, kvType }: Opened,
  work: (subject: Subject) => Promise<T>,
): Promise<T> {
  const { addon, signal } = surroundings;
  const { flag, release } = abortFlag(addon, signal);
  try {
    const text = await readModelText(addon, path);
    const context = { ...(sessionTokens !== undefined && { contextLength: sessionTokens }), ...(kvType && { kvType }) };
    const session = native.createSession(context);
    const score: Scorer = (tokens, options) =>
      session.score(tokens, { ...options, at: [...(options.at ?? [])], path: precision ?? 'exact', signal: flag });
    return await work({ ...surroundings, native, text, score, precision, context });
  } finally {
    release();
  }
}

/** Work with a progress of its own, which ends with it. */
export async function showing<T>(
  { progress }: Pick<Surroundings, 'progress'>,
  stage: Stage,
  total: number,
  work: (show: (done: number) => void) => Promise<T>,
): Promise<T> {
  const { show, end } = progress(stage);
  try {
    return await work((done) => show(done, total));
  } finally {
    end();
  }
}
