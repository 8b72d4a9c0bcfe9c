import type {
  Attachment,
  Chat,
  ChatId,
  CollectionId,
  Failure,
  MessageId,
  StatsSample,
} from '../../../app/protocol/index.ts';

//  State of the chat page beside the chats themselves: what is open, typed, chosen and not sent yet.

export const nothingChosen: ChatView['fresh'] = { modelId: null, thinking: null, collectionIds: [], tools: null };

/** Initial view state of a chat, reset when another is opened. */
export const nothingBegun = {
  overlay: { kind: 'none' },
  editing: null,
  branchFrom: null,
  sources: null,
  unopened: null,
} as const satisfies Partial<ChatView>;

/** The key of a draft: its chat, or `new` for the chat that does not exist yet. */
export type DraftKey = ChatId | 'new';

export type Overlay =
  | { kind: 'none' }
  | { kind: 'model-picker' }
  | { kind: 'thinking' }
  | { kind: 'documents' }
  | { kind: 'tools' }
  | { kind: 'prompts' }
  | { kind: 'chat-settings' }
  | { kind: 'find' }
  | { kind: 'branches' }
  | { kind: 'report'; failure: Failure }
  /** `resumes`: the answer that reached the end of the context; otherwise a message waits in the composer. */
  | {
      kind: 'overflow';
      chatId: ChatId;
      used: number;
      draft: number;
      limit: number;
      resumes: MessageId | null;
    };

export type ChatView = {
  /** The requested chat; `open` follows once it is loaded. Null: a new chat. */
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
  /** The refused action of a chat; the text of a message is back in its composer. */
  refused: Partial<Record<DraftKey, Failure | null>>;
  samples: ReadonlyMap<MessageId, StatsSample[]>;
  /** The sources panel: its answer, and the shown source. */
  sources: { messageId: MessageId; number: number; quoted: boolean } | null;
};

/** Choices made for a chat before it exists; null if there are none. */
export function chosenIn({ thinking, collectionIds, tools }: ChatView['fresh']) {
  if (thinking === null && collectionIds.length === 0 && tools === null) return null;
  return {
    ...(thinking !== null && { thinking }),
    ...(collectionIds.length > 0 && { collectionIds }),
    ...(tools !== null && { tools }),
  };
}
