import { LonghandError, type RemoteEngineId } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';

export type StoredRemoteEngine = {
  id: RemoteEngineId;
  name: string;
  address: string;
  key: string | null;
  sealed: number;
  createdAt: number;
};

const columns = 'id, name, address, key, sealed, created_at AS createdAt';

export const listRemoteEngines = (db: Database): StoredRemoteEngine[] =>
  db.all<StoredRemoteEngine>(`SELECT ${columns} FROM remote_engines ORDER BY created_at, id`);

/** @throws LonghandError `not-found` */
export function getRemoteEngine(db: Database, id: RemoteEngineId): StoredRemoteEngine {
  const found = db.get<StoredRemoteEngine>(`SELECT ${columns} FROM remote_engines WHERE id = ?`, id);
  if (found) return found;
  throw new LonghandError('not-found', `[remote] no engine ${id}`, { details: { reason: 'engine-removed' } });
}

export const putRemoteEngine = (db: Database, { id, name, address, key, sealed, createdAt }: StoredRemoteEngine) =>
  db.run(
    `INSERT INTO remote_engines (id, name, address, key, sealed, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, key = excluded.key, sealed = excluded.sealed`,
    id,
    name,
    address,
    key,
    sealed,
    createdAt,
  );

/** Also revokes what chats allowed it. */
export function removeRemoteEngine(db: Database, id: RemoteEngineId) {
  forgetPassagesTo(db, id);
  db.run('DELETE FROM remote_engines WHERE id = ?', id);
}

/** Revokes permissions to send passages after the host has changed. */
export const forgetPassagesTo = (db: Database, id: RemoteEngineId) =>
  db.run('UPDATE chats SET passages_to = NULL WHERE passages_to = ?', id);
