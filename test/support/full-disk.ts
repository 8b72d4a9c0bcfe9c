import { afterAll, beforeAll, vi } from 'vitest';

/** The errors that went uncaught during the tests of a file. Logs are not printed: hundreds of cores write them. */
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
