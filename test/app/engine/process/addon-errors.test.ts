import { expect, test } from 'vitest';
import { toLonghandError, toldOfGpu } from '../../../../app/engine/process/addon-errors.ts';
import { failureOf, LonghandError } from '../../../../app/protocol/index.ts';

const thrown = (code: unknown) => toLonghandError(Object.assign(new Error('[here] it broke'), { code }));

test.each([
  ['format', 'model-broken'],
  ['memory', 'out-of-memory'],
  ['context', 'context-full'],
  ['argument', 'bad-request'],
  ['device', 'engine-failed'],
  ['ERR_UNKNOWN', 'engine-failed'],
  [17, 'engine-failed'],
  [undefined, 'engine-failed'],
])('an error of the engine with code %s is told as %s', (code, told) => {
  const error = thrown(code);
  expect(error).toMatchObject({ code: told, message: '[here] it broke' });
  expect(error.cause).toBeInstanceOf(Error);
  // Only then the processor takes over.
  expect(toldOfGpu(failureOf(error))).toBe(code === 'device');
});

test('what is known already stays, and what is no error is said as it is', () => {
  const known = new LonghandError('disk-full', '[disk] full');
  expect(toLonghandError(known)).toBe(known);
  expect(toLonghandError('gone')).toMatchObject({ code: 'engine-failed', message: 'gone' });
});
