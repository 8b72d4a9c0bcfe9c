import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { withCompileCache } from '../app/launch/compile-cache.mjs';
import { SlowestFirst } from './support/runner/slowest-first.ts';

// For the many processes that the tests start, also where this is not started by test/run.mjs.
Object.assign(process.env, withCompileCache(join(import.meta.dirname, '..')));

/** Left out by `npm run check`: what takes longer than a few seconds. */
export const SLOW = [
  'native/**',
  'ops/**',
  'metal/**',
  'electron/**',
  'vulkan/**',
  'golden/**',
  'fuzz/**',
  'app/chat/full-disk.test.ts',
  'app/core/full-disk.test.ts',
  'app/models/downloads/full-journal.test.ts',
  'app/chat/kills.test.ts',
  'app/chat/loops.test.ts',
  'app/chat/quitting.test.ts',
  'app/chat/small-models.test.ts',
  'app/chat/context/context-trimming.test.ts',
  'app/chat/starting.test.ts',
  'app/chat/turns/turn-manager.test.ts',
  'app/chat/waiting.test.ts',
  'app/chat/documents.test.ts',
  'app/documents/evaluation/**',
  'app/cli/commands/docs/docs.test.ts',
  'app/cli/commands/docs/docs-printed.test.ts',
  'app/cli/commands/models.test.ts',
  'app/cli/commands/printed.test.ts',
  'app/cli/commands.test.ts',
  'app/cli/models.test.ts',
  'app/documents/bad-input.test.ts',
  'app/documents/import/import.test.ts',
  'app/documents/import/watched-folders.test.ts',
  'app/documents/parse/parser-limits.test.ts',
  'app/documents/parse/ocr.test.ts',
  'app/engine/**',
  'app/models/changed.test.ts',
  'app/models/download*.test.ts',
  'app/models/drives.test.ts',
  'app/models/forecast.test.ts',
  'app/models/kills.test.ts',
  'app/models/model-service.test.ts',
  'app/models/relocation/**',
  'app/models/replaced.test.ts',
  'attack/**',
  'app/store/chats/search.test.ts',
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
    // Two more than the cores that are there at least: many tests wait for processes.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    // A soak weighs the core, which runs in the test: V8's young generation alone would come and go by 128 MB in a process so large.
    ...(process.env.LONGHAND_SOAK && { execArgv: ['--max-semi-space-size=8'] }),
    // Every core would read the manual for its encoder, and begin with the assistant; tests of these choose them.
    env: { LONGHAND_EMBEDDING: 'off', LONGHAND_ASSISTANT: 'off' },
  },
});
