import { expect, test } from 'vitest';
import { statementsOf } from '../../../../app/documents/chunk/sentence-splitter.ts';

const said = (text: string) => statementsOf(text).map(([start, end]) => text.slice(start, end));

test('a line of its own is a statement, a wrapped line goes on', () => {
  expect(said('Needed for the dough:\nflour;\nsugar;\nbutter')).toEqual([
    'Needed for the dough:',
    'flour;',
    'sugar;',
    'butter',
  ]);
  expect(said('The rent is due on the third day\nof every month.\nPets are welcome.')).toEqual([
    'The rent is due on the third day\nof every month.',
    'Pets are welcome.',
  ]);
  expect(said('part | price\nrotor | 410 euros\ntail | 99 euros')).toEqual([
    'part | price',
    'rotor | 410 euros',
    'tail | 99 euros',
  ]);
  expect(said('The keeper of the lock\nGate of the north')).toEqual(['The keeper of the lock', 'Gate of the north']);
});
