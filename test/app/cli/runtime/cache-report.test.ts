import { expect, test } from 'vitest';
import { cacheReport } from '../../../../app/cli/runtime/cache-report.ts';

const reuse = { tokens: 100, requested: 412, known: 100, differs: false, reason: 'nothing' } as const;
const prompt = Array.from({ length: 412 }, (_, i) => i);

test('a table says what was cached, what was read again and why, and from where the prompt is new', () => {
  expect(cacheReport(reuse, prompt, null).split('\n')).toEqual([
    'tokens   count',
    '1-100      100  cached',
    '101-412    312  read',
  ]);
  const changed = cacheReport(
    { ...reuse, known: 140, differs: true, reason: 'boundary' },
    prompt,
    (ids) => `w${ids[0]}`,
  );
  expect(changed.split('\n')).toEqual([
    'tokens   count',
    '1-100      100  cached',
    '101-140     40  read again: reading starts at the end of a message or at a multiple of 512',
    '141-412    272  read, new from token 141 on: "w140"',
  ]);
  expect(cacheReport({ ...reuse, known: 140, reason: 'unread' }, prompt, null)).toContain(
    '101-140     40  read again: the answer was not in the cache yet',
  );
  expect(cacheReport({ ...reuse, tokens: 0, known: 0, reason: 'cold' }, prompt, null)).toBe(
    'tokens  count\n1-412     412  read',
  );
});
