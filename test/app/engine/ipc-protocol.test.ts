// What the engine process sends is parsed whole: what goes to the store beside an event, too.
import { expect, test } from 'vitest';
import { isFromEngine } from '../../../app/engine/ipc-protocol.ts';

const event = { type: 'delta', text: 'a', kind: 'answer', tokens: 1 };
const update = (more: object) => ({ turnId: 't', updates: [{ event, ...more }] });
const score = { bytes: [97], logprob: -0.5, top: [{ bytes: [98], logprob: -2 }] };

test.each([{}, { ids: [1, 2] }, { ids: [], keptIds: 0 }, { scores: [score] }])('an update with %j is one', (more) => {
  expect(isFromEngine(update(more))).toBe(true);
});

test.each([
  { ids: 'a' },
  { ids: [0.5] },
  { ids: [null] },
  { keptIds: '1' },
  { scores: {} },
  { scores: [{ bytes: 'a' }] },
])('an update with %j is no message', (more) => {
  expect(isFromEngine(update(more))).toBe(false);
});
