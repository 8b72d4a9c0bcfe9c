/** One rank a layer, on average `rank`: each further one goes to the layer where it saves the most. A layer keeps at least a quarter
 *  of the average. Savings fall with the rank, so that taking the largest first is best (Fox 1966).
 *  @param energies of each layer, what each of its directions carries, largest first
 *  @param step directions a rank: one for each key-value head */
export function allocateRanks(energies: readonly Float64Array[], rank: number, step: number): number[] {
  const least = Math.max(1, Math.floor(rank / 4));
  const ranks = energies.map(() => least);
  const saving = (layer: number) => {
    const from = (ranks[layer] ?? 0) * step;
    return (energies[layer] ?? new Float64Array())
      .subarray(from, from + step)
      .reduce((sum, one) => sum + Math.max(0, one), 0);
  };
  const savings = energies.map((_, layer) => saving(layer));
  for (let left = (rank - least) * energies.length; left > 0; left--) {
    const best = savings.reduce((top, one, layer) => (one > (savings[top] ?? 0) ? layer : top), 0);
    ranks[best] = (ranks[best] ?? 0) + 1;
    savings[best] = saving(best);
  }
  return ranks;
}
