import { joinChunks, unsettled } from '../../store/chats/message-chunks.ts';
import { getMessage, updateMessage } from '../../store/chats/messages.ts';
import { settleToolUses } from '../../store/chats/tool-uses.ts';
import type { ChatDeps } from '../deps.ts';

/** Cleans up after the last process: unfinished answers keep their text and can be resumed, queued messages stay queued. */
export function settle({ db }: ChatDeps) {
  settleToolUses(db);
  for (const messageId of unsettled(db)) {
    const { state } = getMessage(db, messageId);
    if (state.status !== 'running' && state.status !== 'paused') continue;
    db.transaction(() => {
      joinChunks(db, messageId);
      updateMessage(db, messageId, { state: state.status === 'paused' && state.evidence ? leftInLoop : leftWriting });
    });
  }
}

const leftInLoop = { status: 'done', reason: 'loop' } as const;
const leftWriting = {
  status: 'failed',
  failure: { code: 'engine-lost', message: '[turn] Longhand ended while this was written' },
} as const;
