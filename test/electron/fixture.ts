import { rmSync } from 'node:fs';
import { afterAll, onTestFinished, test } from 'vitest';
import { type Desktop, startDesktop } from './desktop.ts';
import { findRuntime } from './runtime.ts';
import { newFolder, type Shell, type StartOptions, startShell } from './shell.ts';

/** Many times what a test needs: only a shell that hangs gets there. */
const TEST_MS = 180_000;

let started: Promise<Desktop> | null = null;
afterAll(async () => (await started)?.stop());

export type Fixture = {
  desktop: Desktop;
  /** Starts the shell. What is left of it when the test is over is killed. */
  start(options?: StartOptions): Promise<Shell>;
};

/** A test in a real Electron, on a desktop that the tests of one file share. */
export function windowTest(name: string, body: (fixture: Fixture) => Promise<void>, timeout = TEST_MS): void {
  const { reason } = findRuntime();
  test(name, { timeout }, async ({ skip }) => {
    if (reason !== null) skip(reason);
    started ??= startDesktop();
    const desktop = await started;
    const start = async (options?: StartOptions) => {
      const shell = await startShell(desktop, options);
      onTestFinished(() => shell.kill());
      return shell;
    };
    await body({ desktop, start });
  });
}

/** A folder that goes with the test. */
export function folder(): string {
  const made = newFolder();
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
