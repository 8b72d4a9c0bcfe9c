// What a prompt takes of an engine whose tokenizer nobody knows.
import { expect, test } from 'vitest';
import { estimated, estimatedPiece, estimatedPrompt } from '../../../../app/engine/remote/estimate.ts';

test('four bytes are a token, and what is begun counts whole', () => {
  const sizes = ['', 'a', 'abcd', 'abcde', '你好', '😀😀'];
  expect(sizes.map((text) => estimated(text))).toEqual([0, 1, 1, 2, 2, 2]);
});

test('a short piece of a stream is one token, a long one is as many as its bytes are', () => {
  expect(['a', 'x'.repeat(16), 'x'.repeat(17), 'x'.repeat(40)].map(estimatedPiece)).toEqual([1, 1, 4, 10]);
});

test('every part of a prompt counts: frame, calls, pictures, tools, and an answer that is continued', () => {
  const plain = { role: 'user' as const, text: 'abcdefgh', thinking: '', ids: null };
  const bare = { messages: [plain], thinking: false, continuation: null };
  expect(estimatedPrompt(bare)).toBe(2 + 8);
  expect(estimatedPrompt({ ...bare, messages: [plain, plain] })).toBe(2 * (2 + 8));
  const picture = { source: { path: '/a.png' }, width: 10, height: 10, detail: 'normal' as const };
  expect(estimatedPrompt({ ...bare, messages: [{ ...plain, pictures: [picture, picture] }] })).toBe(10 + 2 * 1200);
  const call = { id: '1', type: 'function' as const, function: { name: 'clock', arguments: {} } };
  const withCall = estimatedPrompt({ ...bare, messages: [{ ...plain, calls: [call] }] });
  expect(withCall).toBe(10 + Math.ceil(JSON.stringify([call]).length / 4));
  const tool = { type: 'function' as const, function: { name: 'clock', description: 'The time', parameters: {} } };
  const withTool = estimatedPrompt({ ...bare, tools: [tool] });
  expect(withTool).toBe(10 + Math.ceil(JSON.stringify([tool]).length / 4));
  const continuation = { text: 'abcdefghijkl', thinking: '', ids: null };
  expect(estimatedPrompt({ ...bare, continuation })).toBe(10 + 3);
});
