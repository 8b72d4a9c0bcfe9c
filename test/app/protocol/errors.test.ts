// What is told of a failure, whatever was thrown.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { guarded } from '../../../app/protocol/background.ts';
import { codeOfSystem, failureOf, firstProblem, LonghandError } from '../../../app/protocol/errors.ts';

const system = (code: unknown) => Object.assign(new Error('the disk says so'), { code });

test.each([
  ['ENOENT', 'not-found'],
  ['ENAMETOOLONG', 'not-found'],
  ['EACCES', 'permission'],
  ['EBUSY', 'conflict'],
  ['EROFS', 'read-only'],
  ['EDQUOT', 'disk-full'],
  ['EFBIG', 'too-large'],
  ['EMFILE', 'too-many-files'],
  ['EIO', 'unreadable'],
  ['ECONNRESET', null],
  ['constructor', null],
  [5, null],
])('%s of the system is %s', (code, as) => {
  expect(codeOfSystem(system(code))).toBe(as);
  expect(failureOf(system(code))).toEqual({ code: as ?? 'internal', message: 'the disk says so' });
});

test('an error of ours keeps what it says, with a hint and details only where it has them', () => {
  const cause = new Error('below');
  const error = new LonghandError('network', 'no', { hint: 'later', details: { reason: 'off' }, cause });
  expect(failureOf(error)).toEqual({ code: 'network', message: 'no', hint: 'later', details: { reason: 'off' } });
  expect([error.cause, error.name]).toEqual([cause, 'LonghandError']);
  const plain = new LonghandError('conflict', 'taken: a\u202eb');
  expect(Object.keys(failureOf(plain))).toEqual(['code', 'message']);
  expect([plain.message, 'cause' in plain]).toEqual(['taken: a\\u{202e}b', false]);
  expect(failureOf('only words')).toEqual({ code: 'internal', message: 'only words' });
  expect([codeOfSystem(new Error('no code')), codeOfSystem(null), codeOfSystem({ code: 'EIO' })]).toEqual([
    null,
    null,
    null,
  ]);
});

test('of what does not fit, the place and what is expected there are said', () => {
  const { error } = z.object({ a: z.object({ b: z.number() }) }).safeParse({ a: { b: 'x' } });
  expect(firstProblem(error as z.ZodError)).toMatch(/^"a\.b": .*expected number/);
  expect(firstProblem(new z.ZodError([]))).toBe('does not fit its schema');
});

test('what a timer or a listener throws, at once or later, is reported and ends nothing', async () => {
  const told: unknown[] = [];
  const [now, later] = [new Error('now'), new Error('later')];
  const report = (error: unknown) => told.push(error);
  guarded(report, () => {
    throw now;
  })();
  guarded(report, () => Promise.reject(later))();
  guarded(report, (a: number, b: number) => told.push(a - b))(5, 3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([now, 2, later]);
});
