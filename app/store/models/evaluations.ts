import { z } from 'zod';
import { Failure, type ModelId, QualityReference, QualityResult, QualitySubject } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';
import { storedInteger, storedJson } from '../database/stored.ts';

const State = z.discriminatedUnion('status', [
  z.object({ status: z.literal('running') }),
  z.object({ status: z.literal('stopped') }),
  z.object({ status: z.literal('failed'), failure: Failure }),
  z.object({ status: z.literal('done'), result: QualityResult }),
]);
export type EvaluationState = z.infer<typeof State>;

export type EvaluationRow = {
  id: string;
  modelId: ModelId;
  startedAt: number;
  key: string;
  subject: QualitySubject;
  reference: QualityReference | null;
  /** Of work so far. */
  seconds: number;
  state: EvaluationState;
};

type Stored = Omit<EvaluationRow, 'subject' | 'reference' | 'state'> & {
  subject: string;
  reference: string | null;
  state: string;
};

const select =
  'SELECT id, model_id AS modelId, started_at AS startedAt, key, subject, reference, seconds, state FROM evaluations';

/** One whose subject cannot be read is left out: nobody knows what was tested. */
const rowsOf = (stored: readonly Stored[]): EvaluationRow[] =>
  stored.flatMap((row) => {
    const subject = storedJson(QualitySubject.nullable(), row.subject, null);
    if (!subject) return [];
    const reference = storedJson(QualityReference.nullable(), row.reference, null);
    const state = storedJson(State, row.state, { status: 'stopped' });
    return [{ ...row, startedAt: storedInteger(row.startedAt), subject, reference, state }];
  });

/** The newest first. */
export const listEvaluations = (db: Database, modelId: ModelId): EvaluationRow[] =>
  rowsOf(db.all<Stored>(`${select} WHERE model_id = ? ORDER BY started_at DESC, id DESC`, modelId));

export const findEvaluation = (db: Database, id: string): EvaluationRow | undefined =>
  rowsOf(db.all<Stored>(`${select} WHERE id = ?`, id))[0];

export const addEvaluation = (db: Database, row: EvaluationRow) =>
  db.run(
    'INSERT INTO evaluations (id, model_id, started_at, key, subject, reference, seconds, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    row.id,
    row.modelId,
    row.startedAt,
    row.key,
    JSON.stringify(row.subject),
    row.reference && JSON.stringify(row.reference),
    row.seconds,
    JSON.stringify(row.state),
  );

export const setEvaluation = (db: Database, id: string, { seconds, state }: Pick<EvaluationRow, 'seconds' | 'state'>) =>
  db.run('UPDATE evaluations SET seconds = ?, state = ? WHERE id = ?', seconds, JSON.stringify(state), id);

export const removeEvaluation = (db: Database, id: string) => db.run('DELETE FROM evaluations WHERE id = ?', id);

export const removeEvaluationsOf = (db: Database, modelId: ModelId) =>
  db.run('DELETE FROM evaluations WHERE model_id = ?', modelId);

/** After the app ended by itself: what ran has stopped, and models may be gone. Returns the ids of those that can go on. */
export function tidyEvaluations(db: Database): string[] {
  return db.transaction(() => {
    db.run('DELETE FROM evaluations WHERE model_id NOT IN (SELECT id FROM models)');
    db.run(`UPDATE evaluations SET state = '{"status":"stopped"}' WHERE state = '{"status":"running"}'`);
    return db
      .all<{ id: string }>(`SELECT id FROM evaluations WHERE state NOT LIKE '{"status":"done"%'`)
      .map(({ id }) => id);
  });
}
