/** Steps of the thinking budget, in tokens; null: no limit. */
export const budgets = [1024, 2048, 4096, 8192, 16_384, null] as const;

/** The smallest step of at least this many tokens. */
export function nearestBudget(budget: number | null): number {
  if (budget === null) return budgets.length - 1;
  const at = budgets.findIndex((stop) => stop === null || stop >= budget);
  return at === -1 ? budgets.length - 1 : at;
}
