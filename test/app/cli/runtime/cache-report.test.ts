import { expect, test } from 'vitest';
import { cacheReport } from '../../../../app/cli/runtime/cache-report.ts';

const reuse = { tokens: 100, requested: 412, known: 100, differs: false, reason: 'nothing' } as const;
const prompt = Array.from({ length: 412 }, (_, i) => i);

test('one line says what was read, what was known, where the prompt differs and why known tokens were read again', () => {
  expect(cacheReport(reuse, prompt, null)).toBe('312 tokens read, 100 cached');
  expect(cacheReport({ ...reuse, known: 140, differs: true, reason: 'boundary' }, prompt, (ids) => `w${ids[0]}`)).toBe(
    '312 tokens read, 100 cached; differs from token 141 ("w140"); 40 read again: reading starts at the end of a message or at a multiple of 512',
  );
  expect(cacheReport({ ...reuse, known: 140, reason: 'unread' }, prompt, null)).toContain(
    '40 read again: the answer was not in the cache yet',
  );
});
