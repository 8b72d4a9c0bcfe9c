import type { ChatId } from '../protocol/index.ts';
import type { Database } from './database/database.ts';

/** Whether a site is allowed in this chat or in all. */
export const isPageHost = (db: Database, host: string, chatId: ChatId): boolean =>
  db.get('SELECT 1 FROM page_hosts WHERE host = ? AND (chat_id IS NULL OR chat_id = ?)', host, chatId) !== undefined;

/** `chatId` null: in every chat. */
export const addPageHost = (db: Database, host: string, chatId: ChatId | null) =>
  db.run('INSERT OR IGNORE INTO page_hosts (host, chat_id) VALUES (?, ?)', host, chatId);

/** Sites allowed in every chat. */
export const listPageHosts = (db: Database): string[] =>
  db.all<{ host: string }>('SELECT host FROM page_hosts WHERE chat_id IS NULL ORDER BY host').map(({ host }) => host);

/** Also in single chats. */
export const removePageHost = (db: Database, host: string) => db.run('DELETE FROM page_hosts WHERE host = ?', host);
