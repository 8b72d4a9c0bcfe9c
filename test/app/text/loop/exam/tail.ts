/** Where a text begins to go round to the letter up to its end, four times and for 128 tokens at least; null: it does not. */
export function tailOf(ids: readonly number[]): { begin: number; period: number } | null {
  for (let period = 1; period * 4 <= ids.length; period++) {
    let begin = ids.length - 1;
    while (begin >= period && ids[begin] === ids[begin - period]) begin--;
    const span = ids.length - 1 - begin + period;
    if (span >= Math.max(4 * period, 128)) return { begin: begin + 1 - period, period };
  }
  return null;
}
