import { create } from 'zustand';
import {
  type Attachment,
  type ChatId,
  type Choice,
  failureOf,
  LonghandError,
  type MessageId,
  type RequestInput,
  type TurnId,
} from '../../app/protocol/index.ts';
import { core, useConnection } from '../bridge.ts';
import { useSettings } from '../settings/store.ts';
import { chatPages } from './chat-pages.ts';
import { focusComposer } from './focus.ts';
import { createIncoming, withoutShown } from './incoming.ts';
import { runningTurn } from './shown.ts';
import { type ChatData, noChats, withChat, withChats, withOlderChats, withOpened } from './state.ts';
import { type ChatView, type DraftKey, nothingBegun, nothingChosen, type Overlay } from './view.ts';

const DRAFT_MS = 400;
const NEW_DRAFT = 'longhand.draft';

type ChatActions = {
  load(): Promise<void>;
  choose(chatId: ChatId | null): Promise<void>;
  update(change: Omit<RequestInput<'chats.update'>, 'chatId'>, chatId?: ChatId): Promise<void>;
  remove(chatId: ChatId): Promise<void>;
  restore(chatId: ChatId): Promise<void>;
  setDraft(text: string): void;
  /** Puts the draft on screen on disk now. */
  keepDraft(): Promise<void>;
  /** `place`: where they were added; the draft on screen without it. */
  setAttachments(attachments: Attachment[], place?: DraftKey): void;
  /** The id of the chat on screen; makes one where there is none. */
  ensureChat(): Promise<ChatId>;
  send(now: boolean): Promise<void>;
  edit(messageId: MessageId, text: string): Promise<void>;
  rewrite(messageId: MessageId, text: string): Promise<void>;
  retry(messageId: MessageId): Promise<void>;
  resume(messageId: MessageId): Promise<void>;
  /** For an answer that reached the end of the context: asks what is to give way. */
  makeRoom(messageId: MessageId): Promise<void>;
  stop(): Promise<void>;
  answerNow(): Promise<void>;
  decide(turnId: TurnId, choice: Choice): Promise<void>;
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
  closeOverlay(at: Overlay['at']): void;
  setEditing(editing: MessageId | null): void;
  setBranchFrom(answer: MessageId | null): void;
  setRenaming(renaming: ChatId | null): void;
  clearRefusal(): void;
};

export const useChat = create<ChatData & ChatView & ChatActions>()((set, get) => {
  const data = (): ChatData => get();
  const draftKey = (): DraftKey => get().chosen ?? 'new';
  let draftTimer: ReturnType<typeof setTimeout> | undefined;
  /** The chat that is being made: pressed twice, it is made once. */
  let making: Promise<ChatId> | null = null;
  /** Messages whose samples were asked for; those that come later are events. */
  const sampled = new Set<MessageId>();

  async function read(chatId: ChatId) {
    const { chat, messages } = await core.call('chats.get', { chatId });
    incoming.flush();
    if (get().chosen === chatId)
      set((state) => ({ ...withOpened(state, chat, messages), drafts: { [chatId]: chat.draft, ...state.drafts } }));
  }

  /** A turn was started: its messages come as events; where one is missing the chat is read again. */
  async function started(chatId: ChatId, ids: (MessageId | null)[]) {
    incoming.flush();
    const { open } = get();
    if (get().chosen === chatId && ids.some((id) => id !== null && !open?.messages.has(id))) await read(chatId);
  }

  async function attempt(run: () => Promise<void>) {
    set({ refused: null });
    try {
      await run();
    } catch (error) {
      set({ refused: failureOf(error) });
    }
  }

  const openChatId = () => {
    const { chosen } = get();
    if (chosen === null) throw new Error('[chat] no chat is open');
    return chosen;
  };

  async function makeChat(): Promise<ChatId> {
    const { fresh } = get();
    const modelId = fresh.modelId ?? useSettings.getState().values.defaultModelId;
    let chat = await core.call('chats.create', { modelId });
    const { thinking, collectionIds } = fresh;
    if (thinking !== null || collectionIds.length > 0)
      chat = await core.call('chats.update', {
        chatId: chat.id,
        ...(thinking !== null && { thinking }),
        ...(collectionIds.length > 0 && { collectionIds }),
      });
    localStorage.removeItem(NEW_DRAFT);
    set((state) => ({
      ...withOpened(withChat(state, chat), chat, []),
      chosen: chat.id,
      drafts: { ...state.drafts, new: '', [chat.id]: state.drafts.new ?? '' },
      attachments: { ...state.attachments, new: [], [chat.id]: state.attachments.new ?? [] },
      fresh: nothingChosen,
    }));
    return chat.id;
  }

  return {
    ...noChats,
    ...nothingBegun,
    chosen: null,
    drafts: { new: localStorage.getItem(NEW_DRAFT) ?? '' },
    attachments: {},
    fresh: nothingChosen,
    renaming: null,
    samples: new Map(),

    async load() {
      const pages = chatPages((page) => core.call('chats.list', page));
      const { value: newest = [] } = await pages.next();
      set((state) => withChats(state, newest));
      const { chosen } = get();
      if (chosen) await read(chosen);
      for await (const page of pages) set((state) => withOlderChats(state, page));
    },

    async choose(chatId) {
      void saveDraft();
      const same = get().open?.chat.id === chatId;
      if (!same) sampled.clear();
      set((state) => ({
        ...nothingBegun,
        chosen: chatId,
        open: same ? state.open : null,
        live: new Map(),
        samples: same ? state.samples : new Map(),
      }));
      if (chatId) await read(chatId);
    },

    async update(change, chatId = openChatId()) {
      const chat = await core.call('chats.update', { chatId, ...change });
      set((state) => withChat(state, chat));
    },

    async remove(chatId) {
      await core.call('chats.delete', { chatId });
      set((state) => withoutShown(state, chatId));
    },

    async restore(chatId) {
      const chat = await core.call('chats.restore', { chatId });
      set((state) => withChat(state, chat));
    },

    setDraft(text) {
      set((state) => ({ drafts: { ...state.drafts, [draftKey()]: text }, refused: null }));
      if (get().chosen === null) keepNewDraft(text);
      clearTimeout(draftTimer);
      draftTimer = setTimeout(saveDraft, DRAFT_MS);
    },

    keepDraft: saveDraft,

    setAttachments: (attachments, place = draftKey()) =>
      set((state) => ({ attachments: { ...state.attachments, [place]: attachments } })),

    ensureChat() {
      const { chosen } = get();
      if (chosen) return Promise.resolve(chosen);
      making ??= makeChat().finally(() => {
        making = null;
      });
      return making;
    },

    send: (now) =>
      attempt(async () => {
        const key = draftKey();
        const text = (get().drafts[key] ?? '').trim();
        const attachments = get().attachments[key] ?? [];
        if (text === '' && attachments.length === 0) return;
        const { at } = useConnection.getState();
        // It would be nowhere until the connection is back: it stays in the field.
        if (at === 'lost' || at === 'gone') throw new LonghandError('core-lost', '[chat] sent without a connection');
        const { branchFrom } = get();
        let place = key;
        // Taken at once, so that a second press finds nothing to send.
        clearTimeout(draftTimer);
        set((state) => ({
          drafts: { ...state.drafts, [key]: '' },
          attachments: { ...state.attachments, [key]: [] },
        }));
        try {
          const chatId = await get().ensureChat();
          place = chatId;
          const ids = attachments.map((attachment) => attachment.id);
          const answer = await core.call('turns.send', {
            chatId,
            text,
            attachments: ids,
            now,
            ...parentOf(branchFrom),
          });
          set((state) => ({ branchFrom: state.branchFrom === branchFrom ? null : state.branchFrom }));
          await started(chatId, [answer.userMessageId, answer.messageId]);
        } catch (error) {
          set((state) => ({
            drafts: { ...state.drafts, [place]: [text, state.drafts[place]].filter(Boolean).join('\n\n') },
            attachments: { ...state.attachments, [place]: [...attachments, ...(state.attachments[place] ?? [])] },
          }));
          if (failureOf(error).code !== 'context-full' || place === 'new') throw error;
          await showOverflow(place);
        }
        void saveDraft();
      }),

    edit: (messageId, text) =>
      attempt(async () => {
        const answer = await core.call('turns.edit', { messageId, text });
        set({ editing: null });
        await started(openChatId(), [answer.userMessageId, answer.messageId]);
      }),

    rewrite: (messageId, text) =>
      attempt(async () => {
        const message = await core.call('turns.rewrite', { messageId, text });
        set({ editing: null });
        await started(openChatId(), [message.id]);
      }),

    retry: (messageId) =>
      attempt(async () => {
        const answer = await core.call('turns.retry', { messageId });
        await started(openChatId(), [answer.messageId]);
      }),

    resume: (messageId) =>
      attempt(async () => {
        const answer = await core.call('turns.resume', { messageId });
        await started(openChatId(), [answer.messageId]);
      }),

    makeRoom: (messageId) =>
      attempt(async () => {
        const measured = await core.call('context.measure', { chatId: openChatId(), draft: '', parentId: messageId });
        set({ overlay: { at: 'overflow', ...measured, resumes: messageId } });
      }),

    async stop() {
      const turnId = runningTurn(data());
      if (turnId) await core.call('turns.cancel', { turnId });
    },

    async answerNow() {
      const turnId = runningTurn(data());
      if (turnId) await core.call('turns.answerNow', { turnId });
    },

    decide: (turnId, choice) =>
      attempt(async () => {
        await core.call('turns.decide', { turnId, choice }).catch((error) => {
          // Decided already, here or in another window.
          if (failureOf(error).code !== 'not-found') throw error;
        });
      }),
    editQueued: (messageId, text) => attempt(() => core.call('turns.editQueued', { messageId, text })),

    moveQueued: (messageId, by) => attempt(() => core.call('turns.moveQueued', { messageId, by })),
    sendQueued: (messageId) => attempt(() => core.call('turns.sendQueued', { messageId })),

    async takeBack(messageId) {
      const message = get().open?.messages.get(messageId);
      const taken = await core.call('turns.editQueued', { messageId, text: null }).then(
        () => true,
        () => false,
      );
      if (!message || !taken) return;
      get().setDraft([message.text, get().drafts[message.chatId]].filter(Boolean).join('\n\n'));
      get().setAttachments([...message.attachments, ...(get().attachments[message.chatId] ?? [])], message.chatId);
      focusComposer();
    },

    show: (messageId) =>
      attempt(async () => {
        const chat = await core.call('chats.show', { messageId });
        set((state) => ({ ...withChat(state, chat), branchFrom: null }));
      }),

    async readSamples(messageId) {
      if (sampled.has(messageId)) return;
      sampled.add(messageId);
      const stored = await core.call('turns.samples', { messageId });
      const last = stored.at(-1)?.atMs ?? -1;
      set((state) => {
        const since = (state.samples.get(messageId) ?? []).filter(({ atMs }) => atMs > last);
        return { samples: new Map(state.samples).set(messageId, [...stored, ...since]) };
      });
    },

    showSource: (messageId, number, quoted = false) => set({ sources: { messageId, number, quoted } }),
    hideSources: () => set({ sources: null }),
    setOverlay: (overlay) => set({ overlay }),
    closeOverlay: (at) => {
      if (get().overlay.at === at) set({ overlay: { at: 'none' } });
    },
    setEditing: (editing) => set({ editing }),
    setBranchFrom: (branchFrom) => set({ branchFrom }),
    setRenaming: (renaming) => set({ renaming }),
    clearRefusal: () => set({ refused: null }),
  };

  async function saveDraft() {
    clearTimeout(draftTimer);
    const { chosen, drafts, open } = get();
    if (!chosen || open?.chat.id !== chosen || open.chat.draft === (drafts[chosen] ?? '')) return;
    await core
      .call('chats.update', { chatId: chosen, draft: drafts[chosen] ?? '' })
      .catch((error) => set({ refused: failureOf(error) }));
  }

  async function showOverflow(chatId: ChatId) {
    const attachments = (get().attachments[chatId] ?? []).map((attachment) => attachment.id);
    const draft = get().drafts[chatId] ?? '';
    const from = parentOf(get().branchFrom);
    const measured = await core.call('context.measure', { chatId, draft, attachments, ...from });
    set({ overlay: { at: 'overflow', ...measured, resumes: null } });
  }
});

/** What can be done never changes: no component listens to the store for it. */
export const actions: ChatActions = useChat.getState();

const incoming = createIncoming(useChat);

export const listenToChats = incoming.listen;

/** Over a reload. One that is too long for the browser's store lasts as long as the page. */
function keepNewDraft(text: string): void {
  try {
    localStorage.setItem(NEW_DRAFT, text);
  } catch {
    localStorage.removeItem(NEW_DRAFT);
  }
}

const parentOf = (branchFrom: MessageId | null) => (branchFrom === null ? {} : { parentId: branchFrom });
