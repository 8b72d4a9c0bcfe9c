import { describe, expect, test } from 'vitest';
import { endToEndCount } from '../support/runner/runners.mjs';
import { MAX_UNSTEADY, withSecondTry } from '../support/runner/second-try.mjs';

const failure = (name: string, file = 'test/a.test.ts') => ({ file, name, message: 'no' });
const count = (passed: number, ...failures: ReturnType<typeof failure>[]) => ({ passed, failures, skipped: [] });

describe('a failed test in CI', () => {
  test('that passes alone is named as unsteady', async () => {
    const asked: string[][] = [];
    const result = await withSecondTry(count(10, failure('one'), failure('two')), async (places) => {
      asked.push(places);
      return count(4);
    });
    expect(asked).toEqual([['test/a.test.ts']]);
    expect(result).toMatchObject({ passed: 12, failures: [], unsteady: [{ name: 'one' }, { name: 'two' }] });
  });
  test('that fails again has failed', async () => {
    const result = await withSecondTry(count(10, failure('one'), failure('two')), async () => count(3, failure('two')));
    expect(result).toMatchObject({ passed: 11, failures: [{ name: 'two' }], unsteady: [{ name: 'one' }] });
  });
  test('has failed when the second run found something else, or nothing at all', async () => {
    const first = count(10, failure('one'));
    expect(await withSecondTry(first, async () => count(3, failure('three')))).toMatchObject({
      passed: 10,
      failures: [{ name: 'one' }],
    });
    expect(await withSecondTry(first, async () => count(0))).toMatchObject({ failures: [{ name: 'one' }] });
  });
  test('takes along what was left out behind it', async () => {
    const left = { file: 'test/a.test.ts', name: 'after', reason: '' };
    const mac = { file: 'test/a.test.ts', name: 'on a Mac', reason: 'needs a Mac' };
    const first = { ...count(10, failure('one')), skipped: [left, mac] };
    expect(await withSecondTry(first, async () => ({ ...count(3), skipped: [mac] }))).toMatchObject({
      passed: 12,
      failures: [],
      skipped: [mac],
    });
    const still = await withSecondTry(first, async () => ({ ...count(3), skipped: [left, mac] }));
    expect(still).toMatchObject({ passed: 11, skipped: [left, mac] });
  });
  test('is not tried again among many, nor when the runner itself failed', async () => {
    const never = () => Promise.reject(new Error('not to be run'));
    const many = Array.from({ length: MAX_UNSTEADY + 1 }, (_, index) => failure(String(index)));
    expect(await withSecondTry(count(10, ...many), never)).toMatchObject({ failures: many, unsteady: [] });
    expect(await withSecondTry(count(10, failure('itself', '')), never)).toMatchObject({ passed: 10, unsteady: [] });
    expect(await withSecondTry(count(10), never)).toMatchObject({ passed: 10, unsteady: [] });
  });
});

test('what a browser run counted: names with their suites, places, reasons', () => {
  const spec = (title: string, status: string, more: object = {}) => ({
    title,
    file: 'documents/ask.spec.ts',
    tests: [{ status, annotations: [], results: [{ error: { message: '\x1b[31mno button\x1b[39m\nmore' } }], ...more }],
  });
  const suites = [
    {
      title: 'documents/ask.spec.ts',
      specs: [spec('asks', 'expected')],
      suites: [
        {
          title: 'in the app',
          specs: [
            spec('stops', 'unexpected'),
            spec('prints', 'skipped', { annotations: [{ type: 'skip', description: 'needs a Mac' }] }),
          ],
        },
      ],
    },
  ];
  expect(endToEndCount(JSON.stringify({ stats: { expected: 1 }, suites }))).toEqual({
    passed: 1,
    failures: [
      {
        file: 'test/e2e/documents/ask.spec.ts',
        name: 'documents/ask.spec.ts > in the app > stops',
        message: 'no button',
      },
    ],
    skipped: [
      {
        file: 'test/e2e/documents/ask.spec.ts',
        name: 'documents/ask.spec.ts > in the app > prints',
        reason: 'needs a Mac',
      },
    ],
  });
});
