import { defineConfig } from 'vitest/config';

/** Left out by `npm run check`: what takes longer than a few seconds. */
const SLOW = [
  'native/**',
  'ops/**',
  'metal/**',
  'golden/**',
  'fuzz/**',
  'launch/clone.test.ts',
  'app/cli/commands.test.ts',
  'app/text/hostile.test.ts',
  'app/text/chat-templates.test.ts',
  'app/text/loop/**',
  'app/server/**',
  'app/store/kill*.test.ts',
];

export default defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['**/*.test.ts', '**/*.test.tsx'],
    exclude: ['e2e/**', '**/node_modules/**', ...(process.env.LONGHAND_FAST ? SLOW : [])],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
  },
});
