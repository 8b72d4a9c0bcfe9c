import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { abortFlag } from '../../engine/process/addon.ts';
import { LonghandError, MIXED_SHARE, SHRINK_BITS, type ShrinkMethod } from '../../protocol/index.ts';
import { allocate } from '../allocate.ts';
import { type GgufTarget, planGguf, writeGguf } from '../gguf/write.ts';
import { type Inputs, writeMlx } from '../mlx.ts';
import { checkRoom, whole } from '../output.ts';
import { columnsOf, type Planned, planOf, type Rounding, rowsOf, sizeOf } from '../plan.ts';
import { stampOf } from '../resumption.ts';
import { type Calibration, observe } from './calibration.ts';
import { errorFeedback, importanceOf } from './error-feedback.ts';
import { type Described, ggufSourceOf, originOf } from './origin.ts';
import { type Card, qualityOf, writeCard } from './quality-card.ts';
import { sensitivitiesOf } from './sensitivity.ts';
import type { Workshop } from './workshop.ts';

/** What was asked for, validated. */
export type Asked = {
  source: string;
  folder: string;
  out: string;
  /** The path in its card. */
  known: string;
  bits: number;
  group: number;
  method: ShrinkMethod;
  /** Target size in bytes, or divergence in nats a token, for mixed precision. */
  target: number | null;
  divergence: number | null;
  gguf: GgufTarget | null;
  calibration: Calibration | undefined;
  measures: boolean;
  described: Described;
};

type Weights = { importance: Map<string, Float32Array>; windows: Int32Array[]; calibration: string | null };

/** Column importance of each tensor, if the method needs it. */
async function weighed(workshop: Workshop, { method, calibration, source }: Asked): Promise<Weights> {
  const importance = new Map<string, Float32Array>();
  if (method !== 'weighted' && method !== 'mixed') return { importance, windows: [], calibration: null };
  const observed = await observe(workshop, source, calibration, {});
  for (const { names, squares } of observed.seen) {
    const weights = importanceOf(squares);
    for (const name of names) importance.set(name, weights);
  }
  return { importance, windows: observed.windows, calibration: observed.calibration };
}

/** Average over the quantised matrices. */
function bitsPerWeight(plan: readonly Planned[], group: number): number {
  const matrices = plan.filter(({ bits }) => bits !== null);
  const weights = matrices.reduce((sum, planned) => sum + rowsOf(planned) * columnsOf(planned), 0);
  return (8 * sizeOf(matrices, group)) / weights;
}

/** Windows of the calibration text on which the sensitivity of each layer is measured: the last ones. */
const TRIED = 2;

/** Layers lose more together than each alone, and on another text than the one they were measured on: a result that is further
 *  from the original than was asked is made again with more bits, so often at most. */
const ROUNDS = 4;
const MARGIN = 1.1;

const shareOf = (method: ShrinkMethod): number => (method === 'mixed' ? MIXED_SHARE : 1);
const widest = (plan: readonly Planned[]): Planned[] =>
  plan.map((planned) => ({ ...planned, bits: planned.bits === null ? null : Math.max(...SHRINK_BITS) }));
const feedsBack = (method: ShrinkMethod) => method === 'gptq' || method === 'mixed';

/** The ranges of a method, whose bits and whose feedback are chosen elsewhere. */
const roundingOf = (method: ShrinkMethod): Rounding => (method === 'mixed' || method === 'gptq' ? 'weighted' : method);

type Run = {
  seconds: () => number;
  signal: AbortSignal;
  flag: ReturnType<typeof abortFlag>['flag'];
  show: (done: number, total: number) => void;
  end: () => void;
};

/** Quantises, evaluates, and moves the result into place. */
export async function make(workshop: Workshop, asked: Asked): Promise<Card> {
  const began = Date.now();
  const { flag, release } = abortFlag(workshop.addon, workshop.signal);
  const bar = workshop.progress('writing');
  const run: Run = {
    seconds: () => (Date.now() - began) / 1000,
    signal: workshop.signal,
    flag,
    show: (done, total) => bar.show(done, total),
    end: () => bar.end(),
  };
  try {
    return await (asked.gguf === null ? makeMlx(workshop, asked, run) : makeGguf(workshop, asked, asked.gguf, run));
  } catch (error) {
    if (workshop.signal.aborted) throw new LonghandError('cancelled', '[quantize] cancelled; nothing was kept');
    throw error;
  } finally {
    bar.end();
    release();
  }
}

const qualityIf = async (workshop: Workshop, { measures, source }: Asked, made: string): Promise<Card['quality']> =>
  measures ? await qualityOf(workshop, source, made) : { skipped: '--skip-quality' };

async function makeMlx(workshop: Workshop, asked: Asked, run: Run): Promise<Card> {
  const { described, bits, group, method, out } = asked;
  const origin = await originOf(workshop.addon, asked);
  const uniform = origin.plan(planOf(origin.tensors, bits, group));
  if (uniform.every((planned) => planned.bits === null))
    throw new LonghandError(
      'bad-request',
      `[--group] got ${group}; no matrix in this model has rows that divide into groups of that size`,
    );
  const room =
    asked.divergence === null
      ? (asked.target ?? sizeOf(uniform, group) * shareOf(method))
      : sizeOf(widest(uniform), group);
  // To choose bits the original is written once more, and once with the same bits everywhere.
  await checkRoom(out, room + (method === 'mixed' ? described.weightBytes + sizeOf(uniform, group) : 0));
  const { importance, windows, calibration } = await weighed(workshop, asked);
  return await whole(out, async (part, leftovers) => {
    const source = await workshop.addon.openWeights(asked.source);
    const common = { source, group, signal: run.signal };
    const choosing = workshop.progress('choosing');
    try {
      const trial = { ...origin, original: asked.source, source, plan: uniform, bits, group, folder: part };
      const sensitivities =
        method === 'mixed'
          ? await sensitivitiesOf(workshop, { ...trial, windows: windows.slice(-TRIED) })
          : new Map<string, number>();
      const planFor = async (divergence: number | null): Promise<Planned[]> =>
        method === 'mixed'
          ? await allocate({
              ...{ ...common, importance, target: room, plan: uniform },
              ...{ divergence, sensitivities, progress: choosing.show },
            }).finally(choosing.end)
          : uniform;
      const write = async (plan: Planned[]) => {
        const feedback = feedsBack(method) ? errorFeedback(workshop, asked.source, asked.calibration, plan) : null;
        const weightsOf = ({ tensor }: Planned): Inputs => {
          const weights = importance.get(tensor.name);
          return weights === undefined ? {} : { importance: weights };
        };
        const written = await writeMlx(part, {
          ...common,
          inputsOf: feedback?.inputsOf ?? (async (planned) => weightsOf(planned)),
          accompany: origin.accompany,
          config: origin.config,
          plan,
          bits,
          rounding: roundingOf(method),
          flag: run.flag,
          progress: run.show,
          leftovers,
          origin: readBy(workshop, asked),
        }).finally(() => feedback?.close());
        run.end();
        const seconds = run.seconds();
        return {
          plan,
          written,
          seconds,
          read: feedback?.calibration(),
          quality: await qualityIf(workshop, asked, part),
        };
      };
      let aim = asked.divergence;
      let made = await write(await planFor(aim));
      for (let more = 1; more < ROUNDS && aim !== null; ++more) {
        const over = excessOf(made.quality, asked.divergence);
        if (over <= 1) break;
        aim /= over * MARGIN;
        const plan = await planFor(aim);
        if (sizeOf(plan, group) <= sizeOf(made.plan, group)) break;
        await rm(part, { recursive: true });
        made = await write(plan);
      }
      return await writeCard(workshop, part, {
        made_from: asked.source,
        out: asked.known,
        method,
        format: 'mlx',
        bits,
        bits_per_weight: bitsPerWeight(made.plan, group),
        group,
        source_bytes: described.weightBytes,
        seconds: made.seconds,
        calibration: made.read ?? calibration,
        relative_error: made.written.relativeError,
        left_out: made.written.left,
        quality: made.quality,
      });
    } finally {
      choosing.end();
      source.close();
    }
  });
}

/** What the content of the result comes from, beside its plan. */
const readBy = ({ addon }: Workshop, { source, method, calibration }: Asked): unknown => [
  // Another version rounds, and ships a manual to calibrate on, of its own.
  addon.build.version,
  addon.build.commit,
  stampOf(source),
  method,
  calibration ?? null,
];

/** How many times the divergence that was asked for was measured. */
const excessOf = (quality: Card['quality'], wanted: number | null): number =>
  'skipped' in quality || wanted === null ? 0 : quality.kld / wanted;

async function makeGguf(workshop: Workshop, asked: Asked, type: GgufTarget, run: Run): Promise<Card> {
  const { described, out, method } = asked;
  const plan = await planGguf(ggufSourceOf(asked), type);
  await checkRoom(out, plan.bytes);
  const { importance, calibration } = await weighed(workshop, asked);
  const name = basename(out);
  const files = { [name]: out, 'quality.json': out.replace(/\.gguf$/, '.quality.json') };
  return await whole(
    out,
    async (part, leftovers) => {
      const source = await workshop.addon.openWeights(asked.source);
      const write = writeGguf(part, name, {
        source,
        plan,
        importance,
        signal: run.signal,
        flag: run.flag,
        progress: run.show,
        leftovers,
        origin: readBy(workshop, asked),
      });
      await write.finally(() => source.close());
      run.end();
      const seconds = run.seconds();
      return await writeCard(workshop, part, {
        made_from: asked.source,
        out: asked.known,
        method,
        format: `gguf:${type}`,
        source_bytes: described.weightBytes,
        seconds,
        calibration,
        relative_error: null,
        left_out: plan.left,
        quality: await qualityIf(workshop, asked, `${part}/${name}`),
      });
    },
    files,
  );
}
