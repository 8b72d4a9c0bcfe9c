import type { WeightSource } from '../../native/addon/index.d.ts';
import { SHRINK_BITS as BITS, LonghandError } from '../protocol/index.ts';
import { columnsOf, type Planned, plannedBytes, rowsOf, sizeOf, storedType } from './plan.ts';

/** Rows of a matrix that are rounded as a sample. */
const ROWS = 96;

export type AllocationRequest = {
  source: WeightSource;
  plan: readonly Planned[];
  group: number;
  /** Bytes of all tensors together, at most. */
  target: number;
  /** Nats a token that are enough; null: as little as fits. */
  divergence: number | null;
  importance: ReadonlyMap<string, Float32Array>;
  /** Divergence of the model in which the matrices of one group alone are rounded to the bits of the plan. */
  sensitivities: ReadonlyMap<string, number>;
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
};

/** A layer, or a matrix that belongs to none. */
export const groupOf = (name: string): string => /^(.*\.)?layers\.\d+(?=\.)/.exec(name)?.[0] ?? name;

/** Bits for each matrix within `target` bytes in total: the most that all matrices can have, with the remaining bytes spent
 *  where they reduce the divergence most. What a group loses was measured in the model; it is shared among its matrices, and moved
 *  from width to width, by the output error of sample rows, weighted by the statistics of their inputs.
 *  @throws LonghandError if even two bits everywhere exceed the target */
export async function allocate(request: AllocationRequest): Promise<Planned[]> {
  const { plan, group, target, sensitivities } = request;
  // What a text does not reach, such as a head that drafts, stays as it was planned.
  const everywhere = (bits: number): Planned[] =>
    plan.map((planned) =>
      sensitivities.get(groupOf(planned.name)) && planned.bits !== null ? { ...planned, bits } : { ...planned },
    );
  const widest = BITS.findLast((bits) => sizeOf(everywhere(bits), group) <= target);
  if (widest === undefined) {
    const least = sizeOf(everywhere(BITS[0]), group);
    throw new LonghandError(
      'bad-request',
      `[--target-size] got ${(target / 1e9).toFixed(3)} GB; the least that this model can become is ${(Math.ceil(least / 1e6) / 1e3).toFixed(3)} GB`,
    );
  }
  const losses = await lossesOf(request);
  const narrowest = spent(everywhere(BITS[0]), losses, request);
  if (request.divergence !== null) return narrowest;
  const even = spent(everywhere(widest), losses, request);
  return lossIn(narrowest, losses) < lossIn(even, losses) ? narrowest : even;
}

/** `plan` made wider step by step, each time where it gains the most a byte. */
function spent(plan: Planned[], losses: Losses, { group, target, divergence }: AllocationRequest): Planned[] {
  const units = unitsOf(plan, losses);
  let size = sizeOf(plan, group);
  while (divergence === null || lossIn(plan, losses) > divergence) {
    const best = bestStep(units, group, target - size);
    if (best === null) break;
    for (const part of best.unit.parts) part.bits = best.bits;
    size += best.more;
  }
  return plan;
}

const lossIn = (plan: readonly Planned[], losses: Losses): number =>
  plan.reduce((sum, { name, bits }) => sum + (bits === null ? 0 : (losses.get(name)?.get(bits) ?? 0)), 0);

/** By matrix and bits. */
type Losses = ReadonlyMap<string, ReadonlyMap<number, number>>;
/** What gets its bits together: a matrix, or all parts of a stack of experts. `loss`: by bits. */
type Unit = { parts: Planned[]; loss: ReadonlyMap<number, number> };
type Step = { unit: Unit; bits: number; more: number; gain: number };

function unitsOf(plan: readonly Planned[], losses: Losses): Unit[] {
  const rounded = plan.filter(({ name, bits }) => bits !== null && losses.has(name));
  return [...Map.groupBy(rounded, ({ name, within }) => within?.name ?? name).values()].map((parts) => {
    const lossOf = (bits: number) => parts.reduce((sum, { name }) => sum + (losses.get(name)?.get(bits) ?? 0), 0);
    return { parts, loss: new Map(BITS.map((bits) => [bits, lossOf(bits)])) };
  });
}

/** The wider matrix that gains the most a byte, of those that fit into `room` bytes. */
function bestStep(units: readonly Unit[], group: number, room: number): Step | null {
  let best: Step | null = null;
  for (const unit of units) {
    const own = unit.parts[0]?.bits ?? 0;
    const bytes = (bits: number) => unit.parts.reduce((sum, part) => sum + plannedBytes({ ...part, bits }, group), 0);
    for (const bits of BITS.filter((wider) => wider > own)) {
      const more = bytes(bits) - bytes(own);
      const gain = ((unit.loss.get(own) ?? 0) - (unit.loss.get(bits) ?? 0)) / more;
      if (more <= room && gain > (best?.gain ?? 0)) best = { unit, bits, more, gain };
    }
  }
  return best;
}

/** By matrix and bits: its share of the divergence. */
async function lossesOf(request: AllocationRequest): Promise<Losses> {
  const { plan, sensitivities, signal, progress } = request;
  const matrices = plan.filter((planned) => planned.bits !== null);
  const weights = (planned: Planned) => rowsOf(planned) * columnsOf(planned);
  const rounded = new Map<string, number>();
  const errors = new Map<string, Map<number, number>>();
  for (const [done, planned] of matrices.entries()) {
    progress(done, matrices.length);
    signal.throwIfAborted();
    const group = groupOf(planned.name);
    const plainly = weights(planned) * (await sampleError(request, planned, planned.bits ?? 0, 'rtn'));
    rounded.set(group, (rounded.get(group) ?? 0) + plainly);
    const byBits = new Map<number, number>();
    for (const bits of BITS)
      byBits.set(bits, weights(planned) * (await sampleError(request, planned, bits, 'weighted')));
    errors.set(planned.name, byBits);
  }
  return new Map(
    [...errors].map(([name, byBits]) => {
      const group = groupOf(name);
      const scale = (sensitivities.get(group) ?? 0) / (rounded.get(group) || 1);
      return [name, new Map([...byBits].map(([bits, error]) => [bits, scale * error]))];
    }),
  );
}

/** Energy of the output error relative to the output. */
async function sampleError(
  { source, group, importance }: AllocationRequest,
  planned: Planned,
  bits: number,
  method: 'rtn' | 'weighted',
): Promise<number> {
  const all = rowsOf(planned);
  const count = Math.min(ROWS, all);
  const from = planned.from ?? ((row: number) => row);
  const weights = importance.get(planned.tensor.name);
  const { error, energy } = await source.affine(planned.tensor.name, {
    ...{ count, bits, group, method },
    rows: Int32Array.from({ length: count }, (_, i) => from(Math.floor((i * all) / count))),
    scales: storedType(planned.tensor) ?? 'F32',
    ...(weights === undefined ? {} : { importance: weights }),
  });
  return energy > 0 ? error / energy : 0;
}
