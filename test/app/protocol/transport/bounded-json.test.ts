import { expect, test } from 'vitest';
import { createValueCount, MAX_DEPTH, MAX_VALUES, parseJson } from '../../../../app/protocol/index.ts';

const counts = (pieces: string[], most: number) => {
  const count = createValueCount(most);
  return pieces.some((piece) => count.exceeded(piece));
};

test('commas and brackets count outside of strings, wherever the text is cut', () => {
  // Three brackets and three commas; the rest stands in strings.
  const text = '[{"a,[{\\"":"\\\\"},"\\",,[[",["]"],7]';
  expect(JSON.parse(text)).toHaveLength(4);
  for (let cut = 0; cut <= text.length; cut++) {
    expect(counts([text.slice(0, cut), text.slice(cut)], 6), `cut at ${cut}`).toBe(false);
    expect(counts([text.slice(0, cut), text.slice(cut)], 5), `cut at ${cut}`).toBe(true);
  }
  expect(counts([...text], 6)).toBe(false);
  expect(counts([...text], 5)).toBe(true);
});

test('a new text is counted from nothing, also after one that ended within a string', () => {
  const count = createValueCount(3);
  expect(count.exceeded('[1,"\\')).toBe(false);
  count.reset();
  expect(count.exceeded('[1,2,3]')).toBe(false);
  count.reset();
  expect(count.exceeded('[1,2,3,4]')).toBe(true);
});

test('as many values as are allowed are read, one more is refused, and so are millions of digits', () => {
  const most = JSON.stringify(new Array(MAX_VALUES).fill(0));
  expect(parseJson(most, 'body')).toHaveLength(MAX_VALUES);
  expect(() => parseJson(most.replace('[', '[0,'), 'body')).toThrow(/^\[body\] has more than 200,000 values/);
  expect(() => parseJson(`[${'0.1234567890123456789,'.repeat(60_000)}0]`, 'body')).toThrow('1,000,000 digits');
  const text = JSON.stringify({ prompt: '[1,2],'.repeat(MAX_VALUES) });
  expect(parseJson(text, 'body')).toEqual(JSON.parse(text));
  expect(() => parseJson('{"a":', 'body')).toThrow(/^\[body\] is not JSON: /);
});

test('as deep as is allowed is read, one level more is refused, wherever it stands and however it is cut', () => {
  const deep = (levels: number) => `${'{"a":['.repeat(levels / 2)}"]]]]"${']}'.repeat(levels / 2)}`;
  expect(parseJson(deep(MAX_DEPTH), 'body')).toBeDefined();
  expect(() => parseJson(deep(MAX_DEPTH + 2), 'body')).toThrow(`${MAX_DEPTH} levels`);
  const count = createValueCount();
  expect([...deep(MAX_DEPTH)].some((sign) => count.exceeded(sign))).toBe(false);
  // What was closed is not deep any more.
  expect(parseJson(`[${Array(1000).fill('[[]]').join(',')}]`, 'body')).toHaveLength(1000);
  count.reset();
  expect([...deep(MAX_DEPTH + 2)].some((sign) => count.exceeded(sign))).toBe(true);
});
