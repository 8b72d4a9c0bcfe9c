/** Weights read in order to write another file (native/addon/weight_source.cc). Calls and errors as in index.d.ts. */
import type { AbortFlag } from './abort_flag.d.ts';

/** Rows of a tensor, as they are written to another file. */
export interface Stretch {
  /** The first row and how many: all unless told. */
  first?: number;
  count?: number;
  /** A permutation: the source row of each of the `count` rows, and the source column of each column. */
  rows?: Int32Array;
  columns?: Int32Array;
  signal?: AbortFlag;
}
/** The tensors of an opened checkpoint, a stretch of rows at a time; what has been read is let go of. A value that is no finite
 *  number is refused with `format`, naming the tensor. Importance: for each column the mean square of what it is multiplied with. */
export class WeightSource {
  read(tensor: string, stretch?: Stretch): Promise<Float32Array>;
  /** MLX's affine groups. `error` and `energy`: squares of what rounding lost and of the weights, times importance. With `feedback`
   *  the loss of each column is made up for by those rounded after it (GPTQ), in groups whose ranges are those without it; both
   *  sums are then of outputs. */
  affine(
    tensor: string,
    options: Stretch & {
      bits: number;
      group: number;
      scales: 'F32' | 'F16' | 'BF16';
      method: 'rtn' | 'hqq' | 'weighted';
      importance?: Float32Array;
      feedback?: InputFactor;
    },
  ): Promise<{ codes: Uint8Array; scales: Uint8Array; biases: Uint8Array; error: number; energy: number }>;
  /** GGUF blocks, or plain numbers. */
  blocks(
    tensor: string,
    options: Stretch & {
      type: 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_0' | 'Q5_0' | 'Q5_1' | 'Q4_K' | 'Q5_K' | 'Q6_K';
      importance?: Float32Array;
    },
  ): Promise<Uint8Array>;
  close(): void;
}
/** `path` as `load`. */
export function openWeights(path: string): Promise<WeightSource>;
/** The covariance of the inputs of a matrix as a triangle. order [columns]: by falling energy; triangle [columns, columns], upper. */
export type InputFactor = { order: Int32Array; triangle: Float32Array };
/** Of a covariance [columns, columns], to whose diagonal `damping` times its mean is added.
 *  @throws `argument` where the result is not positive definite */
export function factorInputs(
  covariance: Float64Array,
  options: { columns: number; damping: number },
): Promise<InputFactor>;
/** matrix [rows, columns] as up [rows, rank] times down [rank, columns], with the least output error for inputs of
 *  `covariance` [columns, columns]; without one the truncated singular value decomposition, `down` orthonormal.
 *  `error`: Frobenius, relative; energies [rows]: of the outputs in each direction, largest first, of which rank r loses those from r
 *  on. */
export function lowRank(
  matrix: Float64Array,
  options: { rows: number; columns: number; rank: number; covariance?: Float64Array },
): Promise<{ up: Float32Array; down: Float32Array; error: number; energies: Float64Array }>;
