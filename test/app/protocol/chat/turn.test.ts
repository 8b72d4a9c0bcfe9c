import { expect, test } from 'vitest';
import { type LoopEvidence, withDecision } from '../../../../app/protocol/chat/turn.ts';

const loop = (decided?: 'rewind') => ({ at: decided ? 1 : 2, ...(decided && { decided }) }) as unknown as LoopEvidence;

test('a choice is kept with the loop it was about, the last one, and only once', () => {
  const loops = [loop('rewind'), loop()];
  const decided = withDecision(loops, 'stop');
  expect(decided.map((one) => one.decided)).toEqual(['rewind', 'stop']);
  expect(withDecision(decided, 'keep-going')).toEqual(decided);
  // What is asked of a page or a tool is no choice about a loop.
  expect(withDecision(loops, 'allow')).toEqual(loops);
  expect(loops[1]?.decided).toBeUndefined();
});
