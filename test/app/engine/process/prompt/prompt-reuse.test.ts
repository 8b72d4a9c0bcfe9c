import { expect, test } from 'vitest';
import { reuseOf } from '../../../../../app/engine/process/prompt/prompt-reuse.ts';

const prompt = [10, 11, 12, 13, 14];
const decode = (ids: readonly number[]) => ids.map((id) => `<${id}>`).join('');
const reuse = { tokens: 0, requested: 5, known: 0, differs: false, reason: 'cold' } as const;

test('nothing is missed where nothing was known, or only the last token is read again', () => {
  expect(reuseOf(reuse, prompt, decode)).toEqual({});
  expect(reuseOf({ ...reuse, tokens: 4, known: 5, reason: 'nothing' }, prompt, decode)).toEqual({});
});

test('known tokens that were read again are counted, with their reason and the token that differs', () => {
  expect(reuseOf({ ...reuse, tokens: 1, known: 3, differs: true, reason: 'boundary' }, prompt, decode)).toEqual({
    miss: { tokens: 2, reason: 'boundary' },
    differs: { token: 3, text: '<13>' },
  });
  expect(reuseOf({ ...reuse, tokens: 0, known: 5, reason: 'evicted' }, prompt, decode)).toEqual({
    miss: { tokens: 4, reason: 'evicted' },
  });
});
