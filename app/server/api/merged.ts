/** What several yield, as it comes, with the number of each. Leaving it leaves all of them. */
export async function* merged<Item>(
  sources: readonly AsyncGenerator<Item, void>[],
): AsyncGenerator<{ index: number; value: Item }, void> {
  const next = (index: number) => sources[index]?.next().then((result) => ({ index, result }));
  const waiting = new Map(sources.map((_, index) => [index, next(index)]));
  try {
    while (waiting.size > 0) {
      const came = await Promise.race(waiting.values());
      if (!came) return;
      const { index, result } = came;
      if (result.done) waiting.delete(index);
      else {
        waiting.set(index, next(index));
        yield { index, value: result.value };
      }
    }
  } finally {
    await Promise.allSettled([...waiting.values(), ...sources.map((source) => source.return())]);
  }
}
