import { afterAll, beforeAll, vi } from 'vitest';

/** What nobody caught, from the first test of a file to its last. What is logged meanwhile is not printed: hundreds of cores say it. */
export function collectUncaught(): unknown[] {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  beforeAll(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });
  afterAll(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  });
  return uncaught;
}
