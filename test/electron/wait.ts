/** Far beyond what a loaded machine needs: it is reached only when something is broken. */
const PATIENCE_MS = 60_000;
const EVERY_MS = 50;

/** Waits until something is so, and gives it. What throws meanwhile is not so yet. */
export async function waitFor<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + PATIENCE_MS;
  let last: unknown;
  for (;;) {
    try {
      last = await look();
      if (last) return last as NonNullable<T>;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`[electron] waited for ${what} in vain; last: ${String(last)}`);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
