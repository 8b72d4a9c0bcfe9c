import type { WeightSource } from '../../native/addon/index.d.ts';
import { SHRINK_BITS as BITS, LonghandError } from '../protocol/index.ts';
import { columnsOf, type Planned, plannedBytes, rowsOf, sizeOf, storedType } from './plan.ts';

/** Rows of a matrix that are rounded as a sample. */
const ROWS = 96;

export type AllocationRequest = {
  source: WeightSource;
  plan: readonly Planned[];
  group: number;
  /** Bytes of all tensors together. */
  target: number;
  importance: ReadonlyMap<string, Float32Array>;
  signal: AbortSignal;
  progress: (done: number, total: number) => void;
};

/** Bits for each matrix within `target` bytes in total: the most that all matrices can have, with the remaining bytes spent
 *  where they reduce the output error most. So it is never worse than uniform bits. The error is measured: sample rows
 *  of every matrix are rounded to every width, weighted by the statistics of their inputs.
 *  @throws LonghandError if even two bits everywhere exceed the target */
export async function allocate(request: AllocationRequest): Promise<Planned[]> {
  const { plan, group, target } = request;
  const everywhere = (bits: number): Planned[] =>
    plan.map((planned) => ({ ...planned, bits: planned.bits === null ? null : bits }));
  const widest = BITS.findLast((bits) => sizeOf(everywhere(bits), group) <= target);
  if (widest === undefined) {
    const least = sizeOf(everywhere(BITS[0]), group);
    throw new LonghandError(
      'bad-request',
      `[--target-size] got ${(target / 1e9).toFixed(3)} GB; the least that this model can become is ${(Math.ceil(least / 1e6) / 1e3).toFixed(3)} GB`,
    );
  }
  const chosen = everywhere(widest);
  let size = sizeOf(chosen, group);
  const losses = await measured(request);
  for (;;) {
    let best: { at: number; bits: number; more: number; gain: number } | null = null;
    for (const [at, planned] of chosen.entries()) {
      const loss = losses.get(planned.name);
      if (loss === undefined || planned.bits === null) continue;
      for (const bits of BITS.filter((wider) => wider > (planned.bits ?? 0))) {
        const more = plannedBytes({ ...planned, bits }, group) - plannedBytes(planned, group);
        const weights = rowsOf(planned) * columnsOf(planned);
        const gain = (weights * ((loss.get(planned.bits) ?? 0) - (loss.get(bits) ?? 0))) / more;
        if (size + more <= target && gain > (best?.gain ?? 0)) best = { at, bits, more, gain };
      }
    }
    const better = best && chosen[best.at];
    if (!best || !better) return chosen;
    better.bits = best.bits;
    size += best.more;
  }
}

/** By matrix and bits: energy of the output error relative to the output. */
async function measured({ source, plan, group, importance, signal, progress }: AllocationRequest) {
  const losses = new Map<string, Map<number, number>>();
  const matrices = plan.filter((planned) => planned.bits !== null);
  for (const [done, planned] of matrices.entries()) {
    progress(done, matrices.length);
    const all = rowsOf(planned);
    const count = Math.min(ROWS, all);
    const from = planned.from ?? ((row: number) => row);
    const rows = Int32Array.from({ length: count }, (_, i) => from(Math.floor((i * all) / count)));
    const weights = importance.get(planned.tensor.name);
    const byBits = new Map<number, number>();
    for (const bits of BITS) {
      signal.throwIfAborted();
      const { error, energy } = await source.affine(planned.tensor.name, {
        count,
        rows,
        bits,
        group,
        scales: storedType(planned.tensor) ?? 'F32',
        method: 'rtn',
        ...(weights === undefined ? {} : { importance: weights }),
      });
      byBits.set(bits, energy > 0 ? error / energy : 0);
    }
    losses.set(planned.name, byBits);
  }
  return losses;
}
