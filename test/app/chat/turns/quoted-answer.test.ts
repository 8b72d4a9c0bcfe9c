import { expect, test } from 'vitest';
import { quotedAnswer } from '../../../../app/chat/turns/quoted-answer.ts';
import { type Grounding, type ModelId, STARTER } from '../../../../app/protocol/index.ts';

const grounding = {
  found: true,
  quote: { source: 2, start: 4, end: 22, location: null },
  sources: [
    { number: 1, text: 'no' },
    { number: 2, text: 'Yes. The rent\n is 840. More.' },
  ],
} as unknown as Grounding;
const small = 'small' as ModelId;
const answer = (parameters: number, modelId = small, found = grounding) =>
  quotedAnswer({ models: { parametersOf: () => parameters } }, modelId, found);

test('a model that would garble the passages shows the sentence; one of three hundred million reads them', () => {
  expect(answer(135e6)).toBe('The rent is 840. [2]');
  expect(answer(3e8 - 1)).toBe('The rent is 840. [2]');
  expect(answer(3e8)).toBeNull();
  // Of what is not known, nothing is presumed.
  expect(answer(0)).toBeNull();
  expect(answer(135e6, STARTER)).toBeNull();
  expect(answer(135e6, small, { ...grounding, found: false } as Grounding)).toBeNull();
});
