import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { withCompileCache } from '../../app/launch/compile-cache.mjs';

Object.assign(process.env, withCompileCache(join(import.meta.dirname, '..', '..')));

/** Stories that measure, or that act within the seconds in which an answer is written: nothing else runs beside them. */
const ALONE = ['crash', 'figures', 'loops', 'room', 'rough', 'soak', 'streaming', 'switching'].map(
  (name) => `**/${name}.spec.ts`,
);

/** The real app in a real browser. LONGHAND_BROWSER names it; Debian's Chromium otherwise. */
export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: join(import.meta.dirname, '..', '..', '.cache', 'e2e'),
  globalSetup: './build.ts',
  // With a third on two cores the whole took as long, and answers were over before somebody could act.
  workers: 2,
  // npm test runs one after the other.
  projects: [
    { name: 'side by side', testIgnore: ALONE, fullyParallel: true },
    { name: 'alone', testMatch: ALONE, workers: 1 },
  ],
  timeout: 60_000,
  expect: { timeout: 15_000 },
  use: {
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
    launchOptions: {
      executablePath: process.env.LONGHAND_BROWSER || '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
