import type { Message, MessageId } from '../protocol/index.ts';

//  A chat is a tree of messages: children of one parent with the same role are versions of one message, and the branch
//  shown is the path from the root to the chat's leaf.

/** From the root to `leafId`, both included. */
export function branch(messages: readonly Message[], leafId: MessageId | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: Message[] = [];
  const seen = new Set<MessageId>();
  for (let at = leafId === null ? undefined : byId.get(leafId); at && !seen.has(at.id); ) {
    seen.add(at.id);
    path.push(at);
    at = at.parentId === null ? undefined : byId.get(at.parentId);
  }
  return path.reverse();
}

/** The end of the newest branch through `from`: always the child that came last. Waiting messages do not count. */
export function newestLeaf(messages: readonly Message[], from: MessageId): MessageId {
  const lastChild = new Map<MessageId, MessageId>();
  for (const { id, parentId, state } of messages) {
    if (parentId !== null && state.status !== 'queued') lastChild.set(parentId, id);
  }
  let leaf = from;
  for (let next = lastChild.get(leaf); next !== undefined; next = lastChild.get(leaf)) leaf = next;
  return leaf;
}

/** Messages waiting to be sent, in sending order. */
export const queued = (messages: readonly Message[]): Message[] =>
  messages.filter(({ state }) => state.status === 'queued').sort((a, b) => placeOf(a) - placeOf(b));

export const placeOf = (message: Message | undefined): number =>
  message?.state.status === 'queued' ? (message.state.place ?? 0) : 0;

/** What the model sees of a branch: everything after the last excluded message, and the summary that may
 *  stand for the rest. */
export function inView(path: readonly Message[]): { messages: readonly Message[]; summary: string | null } {
  const end = path.findLastIndex(({ contextCutoff }) => contextCutoff !== null && !contextCutoff.restored);
  return { messages: path.slice(end + 1), summary: path[end]?.contextCutoff?.summary ?? null };
}
