import { writeFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** One runner's counts; test/run.mjs adds up those of all runners. */
export type Failure = { file: string; name: string; message: string };
export type Count = { passed: number; failures: Failure[]; skipped: { file: string; name: string; reason: string }[] };

/** Vitest notes which test file was running when an error went uncaught. */
type Unhandled = { message?: string; cause?: { message?: string }; VITEST_TEST_PATH?: string };

/** Writes the counts to the file that LONGHAND_COUNT names. Reasons are those of `context.skip('needs …')`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Unhandled[]): void {
    const count: Count = { passed: 0, failures: [], skipped: [] };
    for (const { message, cause, VITEST_TEST_PATH: path } of unhandled) {
      const file = path ? relative(process.cwd(), path) : '';
      // When a worker process ends, only the cause names the signal and the file.
      count.failures.push({ file, name: 'outside of a test', message: firstLine(cause?.message ?? message) });
    }
    for (const module of modules) countModule(module, count);
    process.stdout.write(`${partsInWords(modules)}\n`);
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
    else if (result.state === 'pending')
      fail(test.fullName, [{ message: 'it has no result: its process ended before' }]);
    else if (result.state === 'skipped') count.skipped.push({ file, name: test.fullName, reason: result.note ?? '' });
    else fail(test.fullName, result.errors ?? []);
  }
}

/** "seconds by part: app 120, vulkan 48", for the budgets of ARCHITECTURE.md §9: summed over all workers. A test of ops counts
 *  towards the back end that its name begins with. */
function partsInWords(modules: readonly TestModule[]): string {
  const seconds = new Map<string, number>();
  const add = (part: string, ms: number) => seconds.set(part, (seconds.get(part) ?? 0) + ms / 1000);
  for (const module of modules) {
    const [, part = 'test'] = relative(process.cwd(), module.moduleId).split(sep);
    const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
    let rest = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
    for (const test of part === 'ops' ? module.children.allTests() : []) {
      const [, device] = /^(metal|vulkan)\b/.exec(test.fullName) ?? [];
      const ms = device ? (test.diagnostic()?.duration ?? 0) : 0;
      if (device) add(device, ms);
      rest -= ms;
    }
    add(part, rest);
  }
  const sorted = [...seconds].sort(([, a], [, b]) => b - a);
  return `seconds by part: ${sorted.map(([part, time]) => `${part} ${time.toFixed(0)}`).join(', ')}`;
}

const firstLine = (message = ''): string => message.split('\n', 1)[0] as string;
