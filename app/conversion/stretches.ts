import { columnsOf, type Planned, rowsOf } from './plan.ts';

/** Values in memory at a time; as fp32, 16 MB. */
const VALUES = 2 ** 22;

export type Stretch = { first: number; count: number };

/** Splits a tensor into row ranges that are read at once. */
export function stretchesOf(tensor: { readonly shape: readonly number[] }): Stretch[] {
  const rows = rowsOf(tensor);
  const step = Math.max(1, Math.floor(VALUES / Math.max(1, columnsOf(tensor))));
  return Array.from({ length: Math.ceil(rows / step) }, (_, i) => ({
    first: i * step,
    count: Math.min(step, rows - i * step),
  }));
}

/** The rows of the source that these rows of the result come from, as the addon takes them. */
export const rowsFor = ({ from }: Planned, { first, count }: Stretch): Stretch & { rows?: Int32Array } =>
  from === undefined
    ? { first, count }
    : {
        first,
        count,
        rows: Int32Array.from({ length: count }, (_, i) => from(first + i)),
      };
