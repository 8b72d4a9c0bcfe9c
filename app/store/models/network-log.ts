import type { NetworkLogEntry } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';

const KEPT_DAYS = 90;
const dayMs = 24 * 60 * 60 * 1000;

/** Adds to the row of its day. */
export const addNetworkLogEntry = (db: Database, contact: NetworkLogEntry) =>
  db.run(
    `INSERT INTO network_log (day, allowed, host, reason, about, at, request_count, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, request_count = request_count + excluded.request_count, bytes = bytes + excluded.bytes`,
    new Date(contact.at).toISOString().slice(0, 10),
    Number(contact.allowed),
    contact.host,
    contact.reason,
    contact.about,
    contact.at,
    contact.requestCount,
    contact.bytes,
  );

/** Newest first, of the last ninety days. */
export function listNetworkLog(db: Database, now: number): NetworkLogEntry[] {
  db.run('DELETE FROM network_log WHERE at < ?', now - KEPT_DAYS * dayMs);
  return db
    .all<Omit<NetworkLogEntry, 'allowed'> & { allowed: number }>(
      'SELECT at, allowed, host, reason, about, request_count AS requestCount, bytes FROM network_log ORDER BY at DESC LIMIT 2000',
    )
    .map((row) => ({ ...row, allowed: row.allowed === 1 }));
}
