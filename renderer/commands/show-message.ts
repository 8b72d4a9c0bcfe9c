import type { MessageId } from '../../app/protocol/index.ts';
import { useChat } from '../stores/chat/store.ts';
import { visibleBranch } from '../stores/chat/visible-branch.ts';

export const SHOW_MESSAGE = 'show-message';

/** Brings a message of the branch on screen into view, once the page has drawn that branch. */
export function showMessage(messageId: MessageId): void {
  requestAnimationFrame(() => {
    const detail = visibleBranch(useChat.getState()).findIndex(({ id }) => id === messageId);
    if (detail !== -1) document.getElementById('transcript')?.dispatchEvent(new CustomEvent(SHOW_MESSAGE, { detail }));
  });
}
