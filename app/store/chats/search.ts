import { setImmediate as nextTask } from 'node:timers/promises';
import type { ChatId, MessageId, SearchHit } from '../../protocol/index.ts';
import { fold } from '../database/case-fold.ts';
import type { Database } from '../database/database.ts';

const before = 40;
const excerptLength = 160;
/** Words shorter than a trigram are searched by scanning: only the newest messages, and with a time limit. */
const scanned = 5000;
const maxMs = 1000;
/** Messages scanned before yielding; fewer if they are long. */
const portion = 50;
const portionMs = 20;

/** Chats whose title or one of whose messages holds every word of `query`; titles first, then newest messages. One hit a
 *  title and one a message. Others get their turn while it reads. */
export async function searchChats(db: Database, query: string, limit: number): Promise<SearchHit[]> {
  // Text never contains NUL, which would end an SQLite query.
  const words = fold(query)
    .split(/[\s\0]+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  const titles = titleHits(db, words, limit);
  return [...titles, ...(await messageHits(db, words, limit - titles.length))];
}

function titleHits(db: Database, words: string[], limit: number): SearchHit[] {
  const all = words.map(() => 'instr(fold(title), ?) > 0').join(' AND ');
  return db
    .all<{ id: ChatId; title: string }>(
      `SELECT id, title FROM chats WHERE deleted_at IS NULL AND ${all} ORDER BY updated_at DESC LIMIT ?`,
      ...words,
      limit,
    )
    .map(({ id, title }) => ({ chatId: id, messageId: null, title, excerpt: title, highlights: places(title, words) }));
}

async function messageHits(db: Database, words: string[], limit: number): Promise<SearchHit[]> {
  const indexed = words.filter((word) => [...word].length >= 3);
  const match = indexed.map((word) => `"${word.replaceAll('"', '""')}"`).join(' AND ');
  const hits: SearchHit[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  let spent = 0;
  for (let read = 0; hits.length < limit && read < scanned && spent < maxMs; await nextTask()) {
    const startedAt = performance.now();
    const rows = match === '' ? newest(db, before) : newestMatching(db, match, before);
    for (const { number, id, chatId, title, text } of rows) {
      before = number;
      read++;
      const folded = fold(text);
      // The index has no words shorter than a trigram.
      if (indexed.length === words.length || words.every((word) => folded.includes(word)))
        hits.push({ chatId, messageId: id, title, ...excerptOf(text, folded, words) });
      if (hits.length === limit || performance.now() - startedAt > portionMs) break;
    }
    spent += performance.now() - startedAt;
    if (rows.length === 0) break;
  }
  return hits;
}

const newest = (db: Database, before: number): Found[] =>
  db.all(
    `SELECT m.number, m.id, m.chat_id AS chatId, c.title, t.text FROM messages m JOIN searched_messages t ON t.id = m.id
     JOIN chats c ON c.id = m.chat_id WHERE m.number < ? AND c.deleted_at IS NULL ORDER BY m.number DESC LIMIT ?`,
    before,
    portion,
  );

const newestMatching = (db: Database, match: string, before: number): Found[] =>
  db.all(
    `SELECT m.number, m.id, m.chat_id AS chatId, c.title, t.text FROM message_search s
     JOIN messages m ON m.number = s.rowid JOIN searched_messages t ON t.id = m.id JOIN chats c ON c.id = m.chat_id
     WHERE message_search MATCH ? AND s.rowid < ? AND c.deleted_at IS NULL ORDER BY s.rowid DESC LIMIT ?`,
    match,
    before,
    portion,
  );

type Found = { number: number; id: MessageId; chatId: ChatId; title: string; text: string };

/** The context of the first match, on one line. */
function excerptOf(text: string, folded: string, words: string[]): Pick<SearchHit, 'excerpt' | 'highlights'> {
  const found = words.map((word) => folded.indexOf(word)).filter((at) => at >= 0);
  const first = found.length > 0 ? Math.min(...found) : 0;
  const start = wordStart(text, Math.max(0, first - before));
  const piece = text.slice(start, start + excerptLength).replace(/\s/g, ' ');
  const excerpt = (start > 0 ? '… ' : '') + piece + (start + excerptLength < text.length ? ' …' : '');
  return { excerpt, highlights: places(excerpt, words) };
}

function wordStart(text: string, from: number): number {
  if (from === 0) return 0;
  const space = text.slice(from, from + before).search(/\s/);
  return space < 0 ? from : from + space + 1;
}

/** All matches in order, overlapping ones merged. */
function places(text: string, words: string[]): [number, number][] {
  const folded = fold(text);
  const found: [number, number][] = [];
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      found.push([at, at + word.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [start, end] of found) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}
