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

/** What can be done on the chat page. */
export type ChatActions = {
  load(): Promise<void>;
  choose(chatId: ChatId | null): Promise<void>;
  update(change: Omit<RequestInput<'chats.update'>, 'chatId'>, chatId?: ChatId): Promise<void>;
  remove(chatId: ChatId): Promise<void>;
  restore(chatId: ChatId): Promise<void>;
  setDraft(text: string): void;
  /** What was typed and attached there is somewhere else now; `text` is what is left. */
  replaceDraft(chatId: ChatId, text: string): Promise<void>;
  /** Puts the draft on screen on disk now. */
  keepDraft(): Promise<void>;
  /** `place`: where they were added; the draft on screen without it. */
  setAttachments(attachments: Attachment[], place?: DraftKey): void;
  /** The id of the chat on screen; makes one where there is none. */
  ensureChat(): Promise<ChatId>;
  /** `key`: whose draft goes; that on screen when it is left out. */
  send(now: boolean, key?: DraftKey): Promise<void>;
  /** A new chat with this text in its composer. What was typed for another new chat before stays where it is. */
  beginWith(text: string, files?: Attachment[]): Promise<void>;
  edit(messageId: MessageId, text: string): Promise<void>;
  rewrite(messageId: MessageId, text: string): Promise<void>;
  retry(messageId: MessageId, documents?: RequestInput<'turns.regenerate'>['documents']): Promise<void>;
  resume(messageId: MessageId): Promise<void>;
  /** Makes a call of an answer once more; the answer gets another version from there on. */
  runToolAgain(messageId: MessageId, useId: ToolUseId): Promise<void>;
  /** For an answer that reached the end of the context: asks what is to give way. */
  makeRoom(messageId: MessageId): Promise<void>;
  stop(): Promise<void>;
  answerNow(): Promise<void>;
  decide(turnId: TurnId, choice: PauseAction): Promise<void>;
  editQueued(messageId: MessageId, text: string | null): Promise<void>;
  moveQueued(messageId: MessageId, by: -1 | 1): Promise<void>;
  /** Sends one that nothing would send by itself. */
  sendQueued(messageId: MessageId): Promise<void>;
  /** A message that waits goes back into the composer, unless it was sent meanwhile. */
  takeBack(messageId: MessageId): Promise<void>;
  show(messageId: MessageId): Promise<void>;
  readSamples(messageId: MessageId): Promise<void>;
  /** `quoted`: with the words marked that are quoted below the answer. */
  showSource(messageId: MessageId, number: number, quoted?: boolean): void;
  hideSources(): void;
  setOverlay(overlay: Overlay): void;
  /** Closes this layer if it is the one that is open: a layer that ends late must not take another with it. */
  closeOverlay(at: Overlay['kind']): void;
  setEditing(editing: MessageId | null): void;
  setBranchFrom(answer: MessageId | null): void;
  setRenaming(renaming: ChatId | null): void;
  clearRefusal(): void;
};
