import type { Message, MessageId } from '../../../app/protocol/index.ts';
import { isRunning } from './reducers.ts';
import type { Messages } from './tree.ts';

//  A chat is a tree; a branch is one of its leaves, with the part of its path that no other branch shares.

export type Branch = {
  /** Its last message. */
  leaf: MessageId;
  /** The first of its own messages, and the one before it; null: the branch begins the chat. */
  begin: Message;
  after: Message | null;
  /** The number of its own messages. */
  count: number;
  /** The time of its last message. */
  at: number;
  writing: boolean;
};

const byAge = (a: Message, b: Message) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** Sent messages by their parent; null for those without one, or whose chain is broken. */
function childrenOf(messages: Messages): Map<MessageId | null, Message[]> {
  const sent = [...messages.values()].filter(({ state }) => state.status !== 'queued');
  return Map.groupBy(sent, ({ parentId }) => (parentId !== null && messages.has(parentId) ? parentId : null));
}

export const isForked = (messages: Messages | undefined): boolean =>
  messages !== undefined && [...childrenOf(messages).values()].some((family) => family.length > 1);

/** Every branch, in tree order: related branches are adjacent, older ones first. */
export function branchesOf(messages: Messages): Branch[] {
  const children = childrenOf(messages);
  const branches: Branch[] = [];
  const open = steps(null, null);
  for (let at = open.pop(); at; at = open.pop()) {
    const next = steps(at.message, at);
    open.push(...next);
    if (next.length > 0) continue;
    const { message, begin, count } = at;
    const after = begin.parentId === null ? null : (messages.get(begin.parentId) ?? null);
    branches.push({ leaf: message.id, begin, after, count, at: message.createdAt, writing: isRunning(message) });
  }
  return branches;

  /** Newest first, since the last is taken next. */
  function steps(message: Message | null, way: Step | null): Step[] {
    const family = (children.get(message?.id ?? null) ?? []).toSorted(byAge).reverse();
    if (family.length === 1 && way) {
      return family.map((only) => ({ message: only, begin: way.begin, count: way.count + 1 }));
    }
    return family.map((one) => ({ message: one, begin: one, count: 1 }));
  }
}

type Step = { message: Message; begin: Message; count: number };

const LONGEST = 160;

/** The first words of a message on one line, without Markdown syntax. */
export const firstWords = ({ text }: Message): string =>
  text
    .slice(0, 2 * LONGEST)
    .replace(/[#*`>$]+/g, '')
    .replace(/[|\s]+/g, ' ')
    .trim()
    .slice(0, LONGEST)
    .replace(/[\ud800-\udbff]$/, '');
