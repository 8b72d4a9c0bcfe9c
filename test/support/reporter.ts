import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** What a runner counted; test/run.mjs adds up the counts of all runners. */
export type Failure = { file: string; name: string; message: string };
export type Count = { passed: number; failures: Failure[]; skipped: { file: string; name: string; reason: string }[] };

/** Vitest notes which test file ran when nobody caught the error. */
type Unhandled = { message?: string; VITEST_TEST_PATH?: string };

/** Writes the counts to the file that LONGHAND_COUNT names. Reasons are those of `context.skip('needs …')`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Unhandled[]): void {
    const count: Count = { passed: 0, failures: [], skipped: [] };
    for (const { message, VITEST_TEST_PATH: path } of unhandled) {
      const file = path ? relative(process.cwd(), path) : '';
      count.failures.push({ file, name: 'outside of a test', message: firstLine(message) });
    }
    for (const module of modules) countModule(module, count);
    const file = process.env.LONGHAND_COUNT;
    if (file) writeFileSync(file, JSON.stringify(count));
  }
}

function countModule(module: TestModule, count: Count): void {
  const file = relative(process.cwd(), module.moduleId);
  const fail = (name: string, errors: readonly { message?: string }[]) =>
    count.failures.push({ file, name, message: firstLine(errors[0]?.message) });
  if (module.errors().length > 0) fail('the file itself', module.errors());
  for (const suite of module.children.allSuites()) {
    if (suite.errors().length > 0) fail(suite.fullName, suite.errors());
  }
  for (const test of module.children.allTests()) {
    const result = test.result();
    if (result.state === 'passed') ++count.passed;
    else if (result.state === 'skipped') count.skipped.push({ file, name: test.fullName, reason: result.note ?? '' });
    else fail(test.fullName, result.errors ?? []);
  }
}

const firstLine = (message = ''): string => message.split('\n', 1)[0] as string;
