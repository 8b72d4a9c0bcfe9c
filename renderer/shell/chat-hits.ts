import type { ChatId, SearchHit } from '../../app/protocol/index.ts';

/** The results of one chat: a hit, preferably in a message, and the number of messages. */
export type ChatHits = { hit: SearchHit; messages: number };

/** One row per chat, in order of relevance. */
export function chatHitsOf(hits: readonly SearchHit[]): ChatHits[] {
  const rows = new Map<ChatId, ChatHits>();
  for (const hit of hits) {
    const row = rows.get(hit.chatId);
    const found = hit.messageId === null ? 0 : 1;
    if (!row) rows.set(hit.chatId, { hit, messages: found });
    else rows.set(hit.chatId, { hit: row.hit.messageId === null ? hit : row.hit, messages: row.messages + found });
  }
  return [...rows.values()];
}
