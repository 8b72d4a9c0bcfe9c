import type { Message, MessageId, TurnId } from '../../../app/protocol/index.ts';
import { type ChatData, isRunning } from './reducers.ts';
import { branchOf, newestEnd } from './tree.ts';
import type { ChatView } from './view-state.ts';

export type BranchView = Pick<ChatData, 'open'> & Pick<ChatView, 'branchFrom' | 'editing'>;

/** The last message on screen: that of the chat, or the one where a new branch begins. A message being edited stays on
 *  screen, even if another window switches the branch. */
export function visibleEnd({ open, branchFrom, editing }: BranchView): MessageId | null {
  const end = branchFrom ?? open?.chat.leafId ?? null;
  if (!open || editing === null || !open.shape.has(editing)) return end;
  return branchOf(open.shape, end).some(({ id }) => id === editing) ? end : newestEnd(open.shape, editing);
}

/** The branch on screen. */
export const visibleBranch = (state: BranchView): Message[] =>
  state.open ? branchOf(state.open.messages, visibleEnd(state)) : [];

export function runningTurn(data: ChatData): TurnId | null {
  if (!data.open) return null;
  for (const message of data.open.shape.values()) {
    if (isRunning(message) && 'turnId' in message.state) return message.state.turnId;
  }
  return null;
}
