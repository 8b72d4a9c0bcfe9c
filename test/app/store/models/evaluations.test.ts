// Tests of models as they are kept, and what becomes of them when the app ended by itself.
import { expect, test } from 'vitest';
import type { ModelId } from '../../../../app/protocol/index.ts';
import {
  addEvaluation,
  type EvaluationRow,
  findEvaluation,
  listEvaluations,
  removeEvaluation,
  removeEvaluationsOf,
  setEvaluation,
  tidyEvaluations,
} from '../../../../app/store/models/evaluations.ts';
import { addModel } from '../../../../app/store/models/models.ts';
import { inMemory } from '../support.ts';

const row = (id: string, startedAt: number, more: Partial<EvaluationRow> = {}): EvaluationRow => ({
  ...{ id, modelId: 'm' as ModelId, startedAt, key: 'k', reference: null, seconds: 0, state: { status: 'running' } },
  subject: { kind: 'choices', name: 'own' },
  ...more,
});
const done: EvaluationRow['state'] = {
  status: 'done',
  result: { kind: 'needle', found: { value: 1, low: null, high: null }, texts: [] },
};

/** Compared with what stands in a file. */
const FILED: Partial<EvaluationRow> = { reference: { from: 'file', path: '/a.reference' } };

function tested() {
  const db = inMemory();
  addModel(db, { id: 'm' as ModelId, name: 'm', path: null, metadata: null }, 1);
  addModel(db, { id: 'n' as ModelId, name: 'n', path: null, metadata: null }, 1);
  for (const one of [row('a', 1), row('b', 3, FILED), row('c', 2, { modelId: 'n' as ModelId })]) addEvaluation(db, one);
  return db;
}

test('of a model the newest comes first, with how far it is', () => {
  const db = tested();
  setEvaluation(db, 'a', { seconds: 5, state: done });
  expect(listEvaluations(db, 'm' as ModelId)).toEqual([row('b', 3, FILED), row('a', 1, { seconds: 5, state: done })]);
  expect(findEvaluation(db, 'c')).toEqual(row('c', 2, { modelId: 'n' as ModelId }));
  removeEvaluation(db, 'b');
  expect(listEvaluations(db, 'm' as ModelId).map(({ id }) => id)).toEqual(['a']);
  removeEvaluationsOf(db, 'm' as ModelId);
  expect([listEvaluations(db, 'm' as ModelId), findEvaluation(db, 'c')?.id]).toEqual([[], 'c']);
  // Nobody knows what was tested.
  db.run(`UPDATE evaluations SET subject = '{}', state = '{'`);
  expect(findEvaluation(db, 'c')).toBeUndefined();
  db.run(`UPDATE evaluations SET subject = '{"kind":"choices","name":"own"}'`);
  expect(findEvaluation(db, 'c')?.state).toEqual({ status: 'stopped' });
});

test('what ran when the app ended has stopped and can go on, what was done is done, and tests of models that are gone go', () => {
  const db = tested();
  setEvaluation(db, 'a', { seconds: 5, state: done });
  db.run(`DELETE FROM models WHERE id = 'n'`);
  expect(tidyEvaluations(db)).toEqual(['b']);
  expect(listEvaluations(db, 'm' as ModelId).map(({ state }) => state.status)).toEqual(['stopped', 'done']);
  expect(findEvaluation(db, 'c')).toBeUndefined();
});
