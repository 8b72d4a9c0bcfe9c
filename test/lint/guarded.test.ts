import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unguardedIn } from './guarded.ts';

const root = join(import.meta.dirname, '../..');

/** Where a throw ends less than the core, or nothing. */
const ELSEWHERE: readonly [path: RegExp, why: string][] = [
  [/^app\/cli\//, 'one command of a terminal: what is thrown is its error message and its exit code'],
  [/^app\/launch\//, 'runs before there is a core'],
  [/^app\/(engine\/process|text)\//, 'the engine process, and that of the templates: they are started again'],
  [
    /^app\/documents\/parse\/(parser-process|parser-worker|formats\/.*)\.ts$/,
    'the reader process: it is started again',
  ],
  [/^app\/conversion\/process\/main\.ts$/, 'the process that makes models: that it ended is told in a sentence'],
  [/^app\/pictures\/(picture-process|decode)\.ts$/, 'the process that decodes pictures: it is started again'],
  [
    /^app\/(process|protocol\/transport)\/transport\.ts$/,
    'hands on to a listener, and every listener is looked at where it is given',
  ],
];

/** What cannot throw, though its form does not show it. */
const KNOWN: readonly [path: string, code: RegExp, why: string][] = [
  ['app/process/request-process.ts', /.*/, 'forgets a process or settles a promise'],
  ['app/models/network/sleep.ts', /.*/, 'clears a timer and settles a promise'],
  [
    'app/store/database/database-thread.ts',
    /^\.on\('message', \(\{ id, path, sql/,
    'runs in the thread, which answers what is thrown there',
  ],
  ['app/server/main.ts', /process\.exit\(1\)/, 'ends the process, which is meant'],
  ['app/server/main.ts', /'SIG(INT|TERM|HUP)', end/, 'ends the process, whatever is thrown before'],
];

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !ELSEWHERE.some(([path]) => path.test(file)));

test('timers and listeners of the core go through guarded: a throw in them has no caller', () => {
  const found = files.flatMap((file) =>
    unguardedIn(readFileSync(join(root, file), 'utf8'))
      .filter(({ code }) => !KNOWN.some(([path, known]) => path === file && known.test(code)))
      .map(({ line, code }) => `${file}:${line} ${code}`),
  );
  expect(found).toEqual([]);
});

test('every exception is still needed', () => {
  const unguarded = (file: string) => unguardedIn(readFileSync(join(root, file), 'utf8'));
  const idle = KNOWN.filter(([file, code]) => !unguarded(file).some((one) => code.test(one.code)));
  expect(idle).toEqual([]);
});

describe('the rule', () => {
  const lines = (code: string) => unguardedIn(code).map(({ line }) => line);

  test.each([
    'setTimeout(() => store(), 5);',
    'const a = 1;\nsetInterval(work, 1000);'.split('\n')[1] as string,
    'queueMicrotask(() => void begin());',
    "child.on('exit', (code) => note(code));",
    "stream.once('end', finish);",
    'pipe.onMessage((message) => take(message));',
    "signal.addEventListener('abort', () => engine.cancel(id), { once: true });",
    "child.on('exit', (code) =>\n  db.run('DELETE', code),\n);",
    'void child.ended.then(lost);',
    'void (run?.ended ?? Promise.resolve()).then(start);',
  ])('sees %s', (code) => {
    expect(lines(code)).toEqual([1]);
  });

  test.each([
    'setTimeout(guarded(report, store), 5);',
    "const end = guarded(report, () => {});\nchild.on('exit', end);",
    "stream.on('error', () => {});",
    "await new Promise((resolve) => setTimeout(resolve, 5));\nstream.once('end', () => resolve(1));",
    "import { setTimeout } from 'node:timers/promises';\nawait setTimeout(5);",
    '// setTimeout(work, 5) would be wrong here',
    'void waits().then((again) => again && start()).catch(() => {});',
    'void child.ended.then(lost, report);',
    "signal.addEventListener('abort', () => reject(signal.reason), { once: true });",
  ])('lets %s pass', (code) => {
    expect(lines(code)).toEqual([]);
  });
});
