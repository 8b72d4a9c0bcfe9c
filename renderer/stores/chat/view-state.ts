import type {
  Attachment,
  Chat,
  ChatId,
  CollectionId,
  Failure,
  MessageId,
  StatsSample,
} from '../../../app/protocol/index.ts';

//  What the chat page shows beside the chats themselves: what is open, typed, chosen and not sent yet.

export const nothingChosen: ChatView['fresh'] = { modelId: null, thinking: null, collectionIds: [], tools: null };

/** What a view of a chat begins with, and loses with the chat. */
export const nothingBegun = {
  overlay: { kind: 'none' },
  editing: null,
  branchFrom: null,
  sources: null,
  unopened: null,
} as const satisfies Partial<ChatView>;

/** Where a draft is kept: under its chat, or as that of the chat that does not exist yet. */
export type DraftKey = ChatId | 'new';

export type Overlay =
  | { kind: 'none' }
  | { kind: 'model-picker' }
  | { kind: 'thinking' }
  | { kind: 'documents' }
  | { kind: 'tools' }
  | { kind: 'chat-settings' }
  | { kind: 'find' }
  | { kind: 'branches' }
  | { kind: 'report'; failure: Failure }
  /** `resumes`: the answer that reached the end of the context; else a message waits in the composer. */
  | {
      kind: 'overflow';
      chatId: ChatId;
      used: number;
      draft: number;
      limit: number;
      resumes: MessageId | null;
    };

export type ChatView = {
  /** The chat that was asked for; `open` follows when it is read. Null: a new chat. */
  chosen: ChatId | null;
  /** Why the chosen chat cannot be read; its page says so. */
  unopened: Failure | null;
  drafts: Partial<Record<DraftKey, string>>;
  attachments: Partial<Record<DraftKey, Attachment[]>>;
  /** The model, thinking, collections and tools of the chat that does not exist yet. */
  fresh: { modelId: Chat['modelId']; thinking: boolean | null; collectionIds: CollectionId[]; tools: string[] | null };
  overlay: Overlay;
  editing: MessageId | null;
  /** The answer that the next message follows, while it begins a branch of its own. */
  branchFrom: MessageId | null;
  renaming: ChatId | null;
  /** What could not be done in a chat; the text of a message is back in its composer. */
  refused: Partial<Record<DraftKey, Failure | null>>;
  samples: ReadonlyMap<MessageId, StatsSample[]>;
  /** The panel of sources: of which answer, and which of them is shown. */
  sources: { messageId: MessageId; number: number; quoted: boolean } | null;
};

/** What was chosen for a chat before it existed; null when nothing was. */
export function chosenIn({ thinking, collectionIds, tools }: ChatView['fresh']) {
  if (thinking === null && collectionIds.length === 0 && tools === null) return null;
  return {
    ...(thinking !== null && { thinking }),
    ...(collectionIds.length > 0 && { collectionIds }),
    ...(tools !== null && { tools }),
  };
}
