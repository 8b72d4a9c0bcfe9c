import { type ElsewhereId, LonghandError } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';

export type StoredElsewhere = {
  id: ElsewhereId;
  name: string;
  address: string;
  key: string | null;
  sealed: number;
  createdAt: number;
};

const columns = 'id, name, address, key, sealed, created_at AS createdAt';

export const listElsewhere = (db: Database): StoredElsewhere[] =>
  db.all<StoredElsewhere>(`SELECT ${columns} FROM elsewhere ORDER BY created_at, id`);

/** @throws LonghandError `not-found` */
export function getElsewhere(db: Database, id: ElsewhereId): StoredElsewhere {
  const found = db.get<StoredElsewhere>(`SELECT ${columns} FROM elsewhere WHERE id = ?`, id);
  if (found) return found;
  throw new LonghandError('not-found', `[elsewhere] no engine ${id}`, { details: { reason: 'engine-removed' } });
}

export const putElsewhere = (db: Database, { id, name, address, key, sealed, createdAt }: StoredElsewhere) =>
  db.run(
    `INSERT INTO elsewhere (id, name, address, key, sealed, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, key = excluded.key, sealed = excluded.sealed`,
    id,
    name,
    address,
    key,
    sealed,
    createdAt,
  );

/** Also revokes what chats allowed it. */
export function removeElsewhere(db: Database, id: ElsewhereId) {
  forgetPassagesTo(db, id);
  db.run('DELETE FROM elsewhere WHERE id = ?', id);
}

/** Revokes permissions to send passages after the host has changed. */
export const forgetPassagesTo = (db: Database, id: ElsewhereId) =>
  db.run('UPDATE chats SET passages_to = NULL WHERE passages_to = ?', id);
