import { expect, test } from 'vitest';
import { scored } from '../../../../../app/engine/process/generation/token-score.ts';

const tokenizer = { bytes: { of: (id: number) => Uint8Array.of(id, id) } } as unknown as Parameters<typeof scored>[0];
const top = [
  { id: 7, logprob: -0.5 },
  { id: 8, logprob: Number.NEGATIVE_INFINITY },
  { id: 9, logprob: -3 },
];

test('the score of a token comes with as many others as were asked for, and what is impossible as a number', () => {
  const token = { id: 7, logprob: -0.5, top };
  expect(scored(tokenizer, token, 2)).toEqual([
    {
      bytes: [7, 7],
      logprob: -0.5,
      top: [
        { bytes: [7, 7], logprob: -0.5 },
        { bytes: [8, 8], logprob: -9999 },
      ],
    },
  ]);
  expect(scored(tokenizer, token, 0)).toEqual([{ bytes: [7, 7], logprob: -0.5, top: [] }]);
  expect(scored(tokenizer, { id: 7, logprob: -0.5 }, 2)[0]?.top).toEqual([]);
  expect(scored(tokenizer, token, null)).toEqual([]);
  expect(scored(tokenizer, { id: 7 }, 2)).toEqual([]);
});
