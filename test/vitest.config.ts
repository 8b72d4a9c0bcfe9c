import { defineConfig } from 'vitest/config';

/** Left out by `npm run check`: what takes longer than a few seconds. */
const SLOW = [
  'native/**',
  'ops/**',
  'metal/**',
  'vulkan/**',
  'golden/**',
  'fuzz/**',
  'app/chat/kills.test.ts',
  'app/chat/loops.test.ts',
  'app/chat/room.test.ts',
  'app/chat/turns.test.ts',
  'app/chat/documents.test.ts',
  'app/documents/evaluation/**',
  'app/cli/docs.test.ts',
  'app/cli/commands.test.ts',
  'app/cli/models.test.ts',
  'app/documents/bad-input.test.ts',
  'app/documents/import.test.ts',
  'app/documents/ocr.test.ts',
  'app/engine/**',
  'app/models/download*.test.ts',
  'app/models/forecast.test.ts',
  'app/models/kills.test.ts',
  'app/models/manager.test.ts',
  'app/server/**',
  'app/store/search.test.ts',
  'app/text/hostile.test.ts',
  'app/text/chat-templates.test.ts',
  'app/text/loop/**',
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
