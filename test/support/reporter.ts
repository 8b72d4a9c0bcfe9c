import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** What a runner counted; test/run.mjs adds up the counts of all runners. */
export type Count = { passed: number; failed: number; skipped: { name: string; reason: string }[] };

/** Writes the counts to the file that LONGHAND_COUNT names. Reasons are those of `context.skip('needs …')`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count: Count = { passed: 0, failed: unhandled.length, skipped: [] };
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') ++count.passed;
        else if (result.state === 'skipped') count.skipped.push({ name: test.fullName, reason: result.note ?? '' });
        else ++count.failed;
      }
    }
    const file = process.env.LONGHAND_COUNT;
    if (file) writeFileSync(file, JSON.stringify(count));
  }
}
