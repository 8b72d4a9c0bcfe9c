import { normal } from './numbers.ts';

export interface DeltaShape {
  keyHeads: number;
  valueHeads: number;
  keyDim: number;
  valueDim: number;
  headMap: 'grouped' | 'tiled';
}

/** Arguments of the op `gatedDelta` for this many tokens; the same numbers each time. */
export function deltaInputs(rows: number, shape: DeltaShape) {
  const values = shape.valueHeads * shape.valueDim;
  const channels = 2 * shape.keyHeads * shape.keyDim + values;
  return {
    ...shape,
    rows,
    width: 4,
    p: normal('p', rows * (channels + values + 2 * shape.valueHeads)),
    conv: normal('conv', channels * 4, 0.5),
    decay: normal('decay', shape.valueHeads).map((x) => -Math.exp(x)),
    dtBias: normal('dt', shape.valueHeads),
    norm: normal('norm', shape.valueDim),
    window: normal('window', 3 * channels),
    state: normal('state', shape.valueHeads * shape.keyDim * shape.valueDim, 0.3),
  };
}
