import type { ChatId, SearchHit } from '../../app/protocol/index.ts';

/** What was found in one chat: a hit that leads to a message where there is one, and how many messages there are. */
export type ChatHits = { hit: SearchHit; messages: number };

/** One row a chat, in the order in which the chats were found. */
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
