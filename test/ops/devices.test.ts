// That a device computes nothing here is told, not only seen from rows that are missing.
import { expect, test } from 'vitest';
import { devices, withoutMetal } from './devices.ts';

test('the GPU takes part in the tests of the ops', ({ skip }) => {
  if (withoutMetal) skip(`needs an Apple7 GPU: ${withoutMetal}`);
  expect(devices.map(({ backEnd }) => backEnd)).toContain('metal');
});
