import type {
  Attachment,
  ChatId,
  MessageId,
  PauseAction,
  RequestInput,
  ToolUseId,
  TurnId,
} from '../../../app/protocol/index.ts';
import type { DraftKey, Overlay } from './view-state.ts';

/** The actions of the chat page. */
export type ChatActions = {
  load(): Promise<void>;
  choose(chatId: ChatId | null): Promise<void>;
  update(change: Omit<RequestInput<'chats.update'>, 'chatId'>, chatId?: ChatId): Promise<void>;
  remove(chatId: ChatId): Promise<void>;
  restore(chatId: ChatId): Promise<void>;
  setDraft(text: string): void;
  /** Replaces a draft whose text and files were moved elsewhere; `text` is what remains. */
  replaceDraft(chatId: ChatId, text: string): Promise<void>;
  /** Saves the current draft now. */
  keepDraft(): Promise<void>;
  /** `place`: the draft they were added to; default: the one on screen. */
  setAttachments(attachments: Attachment[], place?: DraftKey): void;
  /** The id of the chat on screen; creates one if there is none. */
  ensureChat(): Promise<ChatId>;
  /** `key`: the draft to send; default: the one on screen. */
  send(now: boolean, key?: DraftKey): Promise<void>;
  /** Opens a new chat with this text in its composer. An earlier draft of a new chat is kept. */
  beginWith(text: string, files?: Attachment[]): Promise<void>;
  edit(messageId: MessageId, text: string): Promise<void>;
  rewrite(messageId: MessageId, text: string): Promise<void>;
  retry(messageId: MessageId, documents?: RequestInput<'turns.regenerate'>['documents']): Promise<void>;
  resume(messageId: MessageId): Promise<void>;
  /** Repeats a tool call of an answer; the answer gets a new version from there on. */
  runToolAgain(messageId: MessageId, useId: ToolUseId): Promise<void>;
  /** For an answer that reached the end of the context: asks how to make room. */
  makeRoom(messageId: MessageId): Promise<void>;
  stop(): Promise<void>;
  answerNow(): Promise<void>;
  decide(turnId: TurnId, choice: PauseAction): Promise<void>;
  editQueued(messageId: MessageId, text: string | null): Promise<void>;
  moveQueued(messageId: MessageId, by: -1 | 1): Promise<void>;
  /** Sends a queued message that is not sent automatically. */
  sendQueued(messageId: MessageId): Promise<void>;
  /** Moves a queued message back into the composer, unless it was sent meanwhile. */
  takeBack(messageId: MessageId): Promise<void>;
  show(messageId: MessageId): Promise<void>;
  readSamples(messageId: MessageId): Promise<void>;
  /** `quoted`: marks the words that are quoted below the answer. */
  showSource(messageId: MessageId, number: number, quoted?: boolean): void;
  hideSources(): void;
  setOverlay(overlay: Overlay): void;
  /** Closes this overlay only if it is still the open one. */
  closeOverlay(at: Overlay['kind']): void;
  setEditing(editing: MessageId | null): void;
  setBranchFrom(answer: MessageId | null): void;
  setRenaming(renaming: ChatId | null): void;
  clearRefusal(): void;
};
