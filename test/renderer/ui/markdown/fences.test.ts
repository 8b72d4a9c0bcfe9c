import { expect, test } from 'vitest';
import { fencesOf } from '../../../../renderer/ui/markdown/fences.ts';

test('what was typed around a fence stays as it was, the code stands alone', () => {
  expect(fencesOf('Why *this*?\n\n```py\nx = 1\n```\nand  that')).toEqual([
    { kind: 'text', text: 'Why *this*?\n' },
    { kind: 'code', language: 'py', text: 'x = 1' },
    { kind: 'text', text: 'and  that' },
  ]);
});

test('a longer fence holds a shorter one', () => {
  expect(fencesOf('````\n```\na\n```\n````')).toEqual([{ kind: 'code', language: '', text: '```\na\n```' }]);
});

test.each(['no fence', '```js\nnever closed', '', 'inline ```code``` only', '```a`\nb\n```'])(
  'text without a whole fence is text: %j',
  (text) => {
    expect(fencesOf(text)).toEqual([{ kind: 'text', text }]);
  },
);

test('ten thousand fences that are never closed take no time', () => {
  const begun = performance.now();
  fencesOf('```a\n'.repeat(10_000));
  expect(performance.now() - begun).toBeLessThan(1000);
});
