import type { Model } from '../../../native/addon/index.d.ts';
import type { Inputs } from '../mlx.ts';
import { columnsOf, type Planned } from '../plan.ts';
import { type Calibration, type ObservedModel, readObserved } from './calibration.ts';
import type { Workshop } from './workshop.ts';

/** Added to the diagonal of a covariance, relative to its mean. */
const DAMPING = 0.05;
/** Bytes of the covariances that are in memory at a time; for more the model reads the text again. */
const BUDGET = 2 ** 30;
/** Triangles that are kept: those of a layer, which its matrices share. */
const KEPT = 4;

export type ErrorFeedback = {
  inputsOf: (planned: Planned) => Promise<Inputs>;
  /** The text that was read; null before the first matrix. */
  calibration: () => string | null;
  close: () => void;
};

/** Covariances of the inputs of all matrices of a plan, which has to be asked in its order. */
export function errorFeedback(
  workshop: Workshop,
  source: string,
  given: Calibration | undefined,
  plan: readonly Planned[],
): ErrorFeedback {
  const parts = partsOf(plan);
  const kept = new Map<string, Inputs>();
  let observed: ObservedModel | null = null;
  let calibration: string | null = null;
  let current: ReadonlySet<string> | undefined;
  const close = () => {
    observed?.model.close();
    observed = null;
  };
  const inputsOf = async ({ tensor }: Planned): Promise<Inputs> => {
    const part = parts.find((names) => names.has(tensor.name));
    if (observed === null || (part !== undefined && part !== current)) {
      close();
      observed = await readObserved(workshop, source, given, { covarianceOf: [...(part ?? [])] });
      calibration = observed.calibration;
      current = part;
    }
    const known = kept.get(tensor.name);
    if (known) return known;
    const { names, inputs } = await inputsIn(workshop, observed.model, tensor.name);
    if (kept.size >= 3 * KEPT) kept.clear();
    for (const name of names) kept.set(name, inputs);
    return inputs;
  };
  return { inputsOf, calibration: () => calibration, close };
}

async function inputsIn(
  { addon }: Workshop,
  model: Model,
  tensor: string,
): Promise<{ names: readonly string[]; inputs: Inputs }> {
  const [seen] = await model.observed(tensor);
  // A matrix that the text does not reach, or of which all inputs were zero, is rounded for itself.
  if (seen === undefined || !seen.squares.some((square) => square > 0)) return { names: [tensor], inputs: {} };
  const importance = importanceOf(seen.squares);
  if (seen.covariance.length === 0) return { names: seen.names, inputs: { importance } };
  const factored = addon.factorInputs(seen.covariance, { columns: seen.squares.length, damping: DAMPING });
  // It has its own copy; for 12288 columns each has 1.2 GB.
  seen.covariance.buffer.transfer(0);
  return { names: seen.names, inputs: { importance, feedback: await factored } };
}

/** A column that this text did not use may be used by other texts. */
export function importanceOf(squares: Float64Array): Float32Array {
  const mean = squares.reduce((sum, square) => sum + square, 0) / squares.length;
  return Float32Array.from(squares, (square) => square + 1e-3 * mean);
}

/** Names of matrices, in runs whose covariances fit into the budget. Experts see some of the tokens only: theirs are not taken. */
export function partsOf(plan: readonly Planned[], budget = BUDGET): ReadonlySet<string>[] {
  const parts: Set<string>[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const { tensor, bits, within } of plan) {
    if (bits === null || tensor.shape.length !== 2 || within !== undefined) continue;
    const own = 8 * columnsOf(tensor) ** 2;
    if (bytes + own > budget) {
      parts.push(new Set());
      bytes = 0;
    }
    parts.at(-1)?.add(tensor.name);
    bytes += own;
  }
  return parts;
}
