import type { Message, MessageId } from '../../../app/protocol/index.ts';

/** The messages of one chat by id. */
export type Messages = ReadonlyMap<MessageId, Message>;

/** From the first message to `leafId`, without queued messages. A broken chain ends the walk. */
export function branchOf(messages: Messages, leafId: MessageId | null): Message[] {
  const branch: Message[] = [];
  const seen = new Set<MessageId>();
  for (let id = leafId; id !== null && !seen.has(id); ) {
    const message = messages.get(id);
    if (!message) break;
    seen.add(id);
    if (message.state.status !== 'queued') branch.push(message);
    id = message.parentId;
  }
  return branch.reverse();
}

/** The end of the newest branch through a message. */
export function newestEnd(messages: Messages, from: MessageId): MessageId {
  const lastChild = new Map<MessageId, Message>();
  for (const message of messages.values()) {
    const { parentId, state } = message;
    if (parentId === null || state.status === 'queued') continue;
    const known = lastChild.get(parentId);
    if (!known || byAge(known, message) < 0) lastChild.set(parentId, message);
  }
  const seen = new Set([from]);
  let end = from;
  for (let next = lastChild.get(end); next && !seen.has(next.id); next = lastChild.get(end)) {
    end = next.id;
    seen.add(end);
  }
  return end;
}

/** Ids ascend in time, so they break ties. */
const byAge = (a: Message, b: Message) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** Versions (same parent, same role) of every message of a branch, oldest first, in one walk over the tree. Unchanged lists
 *  are reused from `before`, so that nothing rerenders for them. */
export function versionsOf(messages: Messages, branch: readonly Message[], before: Versions): Versions {
  const families = Map.groupBy(messages.values(), familyOf);
  return new Map(
    branch.map((message) => {
      const family = (families.get(familyOf(message)) ?? [message]).filter((other) => other.state.status !== 'queued');
      const ids = family.sort(byAge).map((other) => other.id);
      const known = before.get(message.id);
      return [message.id, known && sameIds(known, ids) ? known : ids];
    }),
  );
}

export type Versions = ReadonlyMap<MessageId, readonly MessageId[]>;

const sameIds = (a: readonly MessageId[], b: readonly MessageId[]) =>
  a.length === b.length && a.every((id, index) => id === b[index]);

const familyOf = (message: Message) => `${message.parentId} ${message.role}`;

/** Queued messages, in sending order. */
export const queueOf = (messages: Messages): Message[] =>
  [...messages.values()]
    .filter((message) => message.state.status === 'queued')
    .sort((a, b) => placeOf(a) - placeOf(b) || byAge(a, b));

const placeOf = ({ state }: Message) => (state.status === 'queued' ? (state.place ?? 0) : 0);

/** Positions in a branch of the lines that mark excluded messages, or those included again later. */
export function markersOf(branch: readonly Message[]): { outOfView: number; marked: ReadonlySet<MessageId> } {
  const end = branch.findLastIndex(({ contextCutoff }) => contextCutoff !== null && !contextCutoff.restored);
  const marked = branch
    .filter(({ contextCutoff }, index) => contextCutoff !== null && index >= end)
    .map(({ id }) => id);
  return { outOfView: end + 1, marked: new Set(marked) };
}
