import type { Contact } from '../protocol/index.ts';
import type { Database } from './database.ts';

const KEPT_DAYS = 90;
const dayMs = 24 * 60 * 60 * 1000;

/** Adds to the row of its day. */
export const addContact = (db: Database, contact: Contact) =>
  db.run(
    `INSERT INTO contacts (day, allowed, host, reason, about, at, times, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, times = times + excluded.times, bytes = bytes + excluded.bytes`,
    new Date(contact.at).toISOString().slice(0, 10),
    Number(contact.allowed),
    contact.host,
    contact.reason,
    contact.about,
    contact.at,
    contact.times,
    contact.bytes,
  );

/** Newest first, of the last ninety days. */
export function listContacts(db: Database, now: number): Contact[] {
  db.run('DELETE FROM contacts WHERE at < ?', now - KEPT_DAYS * dayMs);
  return db
    .all<Omit<Contact, 'allowed'> & { allowed: number }>(
      'SELECT at, allowed, host, reason, about, times, bytes FROM contacts ORDER BY at DESC LIMIT 2000',
    )
    .map((row) => ({ ...row, allowed: row.allowed === 1 }));
}
