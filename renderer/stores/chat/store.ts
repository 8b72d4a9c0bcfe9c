import { create } from 'zustand';
import { type ChatId, type Failure, failureOf, LonghandError, type MessageId } from '../../../app/protocol/index.ts';
import { core, useConnection } from '../../bridge.ts';
import { focusComposer } from '../../lib/focus.ts';
import type { ChatActions } from './chat-actions.ts';
import { chatPages } from './chat-pages.ts';
import { createCoreEvents, withoutShown } from './core-events.ts';
import { createChat } from './create-chat.ts';
import { type ChatData, noChats, withChat, withChats, withOlderChats, withOpened } from './reducers.ts';
import { type ChatView, type DraftKey, nothingBegun, nothingChosen } from './view-state.ts';
import { runningTurn } from './visible-branch.ts';

const DRAFT_MS = 400;
const NEW_DRAFT = 'longhand.draft';

export const useChat = create<ChatData & ChatView & ChatActions>()((set, get) => {
  const data = (): ChatData => get();
  const draftKey = (): DraftKey => get().chosen ?? 'new';
  let draftTimer: ReturnType<typeof setTimeout> | undefined;
  /** The chat being created: a second press does not create another. */
  let making: Promise<ChatId> | null = null;
  /** Messages whose samples were requested; later samples come as events. */
  const sampled = new Set<MessageId>();

  async function read(chatId: ChatId) {
    const found = await core.call('chats.get', { chatId }).catch((error) => {
      if (failureOf(error).code !== 'not-found') throw error;
      return null;
    });
    incoming.flush();
    if (!found) {
      // It was deleted, here or in another window; an address may still name it.
      set((state) => withoutShown(state, chatId));
      return;
    }
    const { chat, messages } = found;
    if (get().chosen === chatId)
      set((state) => ({ ...withOpened(state, chat, messages), drafts: { [chatId]: chat.draft, ...state.drafts } }));
  }

  /** If opening fails before anything of the chat is on screen, its page says why and offers a retry. */
  async function open(chatId: ChatId) {
    await read(chatId).catch((error) => {
      if (get().open?.chat.id === chatId) throw error;
      if (get().chosen === chatId) set({ unopened: failureOf(error) });
    });
  }

  /** A turn was started: its messages come as events; if one is missing, the chat is reloaded. */
  async function started(chatId: ChatId, ids: (MessageId | null)[]) {
    const { open } = get();
    if (get().chosen === chatId && ids.some((id) => id !== null && !open?.messages.has(id))) await read(chatId);
  }

  /** A refusal is shown in the chat it belongs to, whichever is on screen by then. */
  async function attempt(run: (key: DraftKey) => Promise<void>, key = draftKey()) {
    refuse(key, null);
    try {
      await run(key);
    } catch (error) {
      refuse(key, failureOf(error));
    }
  }

  function refuse(key: DraftKey, failure: Failure | null) {
    set(({ refused }) => ({ refused: { ...refused, [key]: failure } }));
  }

  /** An action on the chat on screen: its id is fixed while the core responds. */
  const attemptInChat = (run: (chatId: ChatId) => Promise<void>) =>
    attempt(async (key) => {
      if (key === 'new') throw new LonghandError('conflict', '[chat] no chat is open');
      await run(key);
    });

  const openChatId = () => {
    const { chosen } = get();
    if (chosen === null) throw new LonghandError('conflict', '[chat] no chat is open');
    return chosen;
  };

  async function makeChat(): Promise<ChatId> {
    const chat = await createChat(get().fresh);
    // If the user has opened another chat meanwhile, it stays open.
    const here = get().chosen === null;
    localStorage.removeItem(NEW_DRAFT);
    set((state) => ({
      ...(here ? withOpened(withChat(state, chat), chat, []) : withChat(state, chat)),
      ...(here && { chosen: chat.id }),
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
    refused: {},
    renaming: null,
    samples: new Map(),

    async load() {
      const pages = chatPages((page) => core.call('chats.list', page));
      const { value: newest = [] } = await pages.next();
      set((state) => withChats(state, newest));
      const { chosen } = get();
      if (chosen) {
        await open(chosen);
        await saveDraft();
      }
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
      if (chatId) await open(chatId);
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
      putDraft(draftKey(), text);
      clearTimeout(draftTimer);
      draftTimer = setTimeout(saveDraft, DRAFT_MS);
    },

    async beginWith(text, files = []) {
      const { drafts, attachments, choose } = get();
      if ((drafts.new ?? '') === '' && (attachments.new ?? []).length === 0 && files.length === 0) {
        await choose(null);
        get().setDraft(text);
        return;
      }
      const { id } = await createChat(get().fresh);
      if (files.length > 0)
        await core.call('attachments.move', { attachmentIds: files.map((file) => file.id), chatId: id });
      const chat = await core.call('chats.update', { chatId: id, draft: text });
      set((state) => ({ ...withChat(state, chat), attachments: { ...state.attachments, [id]: files } }));
      putDraft(id, text);
      await choose(id);
    },

    async replaceDraft(chatId, text) {
      putDraft(chatId, text);
      get().setAttachments([], chatId);
      await storeDraft(chatId);
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

    send: (now, whose) =>
      attempt(async (key) => {
        const text = (get().drafts[key] ?? '').trim();
        const attachments = get().attachments[key] ?? [];
        if (text === '' && attachments.length === 0) return;
        const { status } = useConnection.getState();
        // Without a connection the message would be nowhere, so it stays in the field.
        if (status === 'lost' || status === 'gone' || status === 'outdated')
          throw new LonghandError('core-lost', '[chat] sent without a connection');
        const branchFrom = key === draftKey() ? get().branchFrom : null;
        let place = key;
        // Emptied at once, so that a second press has nothing to send.
        clearTimeout(draftTimer);
        set((state) => ({
          drafts: { ...state.drafts, [key]: '' },
          attachments: { ...state.attachments, [key]: [] },
        }));
        try {
          const chatId = key === 'new' ? await get().ensureChat() : key;
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
          if (failureOf(error).code === 'context-full' && place !== 'new') await showOverflow(place);
          else if (place === key) throw error;
          else refuse(place, failureOf(error));
        }
        await saveDraft();
      }, whose),

    edit: (messageId, text) =>
      attemptInChat(async (chatId) => {
        const answer = await core.call('turns.editAndResend', { messageId, text });
        closeEditor(messageId);
        await started(chatId, [answer.userMessageId, answer.messageId]);
      }),

    rewrite: (messageId, text) =>
      attemptInChat(async (chatId) => {
        const message = await core.call('turns.editAnswer', { messageId, text });
        closeEditor(messageId);
        await started(chatId, [message.id]);
      }),

    retry: (messageId, documents) =>
      attemptInChat(async (chatId) => {
        const answer = await core.call('turns.regenerate', { messageId, documents });
        await started(chatId, [answer.messageId]);
      }),

    runToolAgain: (messageId, useId) =>
      attemptInChat(async (chatId) => {
        const answer = await core.call('turns.runToolAgain', { messageId, useId });
        await started(chatId, [answer.messageId]);
      }),

    resume: (messageId) =>
      attemptInChat(async (chatId) => {
        const answer = await core.call('turns.continue', { messageId });
        await started(chatId, [answer.messageId]);
      }),

    makeRoom: (messageId) =>
      attemptInChat(async (chatId) => {
        const measured = await core.call('context.measure', { chatId, draft: '', parentId: messageId });
        if (get().chosen !== chatId) return;
        set({ overlay: { kind: 'overflow', chatId, ...measured, resumes: messageId } });
      }),

    async stop() {
      const turnId = runningTurn(data());
      if (turnId) await core.call('turns.cancel', { turnId });
    },

    async answerNow() {
      const turnId = runningTurn(data());
      if (turnId) await core.call('turns.skipThinking', { turnId });
    },

    decide: (turnId, choice) =>
      attempt(async () => {
        await core.call('turns.decide', { turnId, choice }).catch((error) => {
          // Already decided, here or in another window.
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
      const { chatId } = message;
      putDraft(chatId, [message.text, get().drafts[chatId]].filter(Boolean).join('\n\n'));
      get().setAttachments([...message.attachments, ...(get().attachments[chatId] ?? [])], chatId);
      // Before the draft is saved: the next keystrokes are meant for the composer.
      if (get().chosen === chatId) focusComposer();
      await storeDraft(chatId);
    },

    show: (messageId) =>
      attempt(async () => {
        const chat = await core.call('chats.selectBranch', { messageId });
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
      if (get().overlay.kind === at) set({ overlay: { kind: 'none' } });
    },
    setEditing: (editing) => set({ editing }),
    setBranchFrom: (branchFrom) => set({ branchFrom }),
    setRenaming: (renaming) => set({ renaming }),
    clearRefusal: () => refuse(draftKey(), null),
  };

  function putDraft(key: DraftKey, text: string) {
    set((state) => ({ drafts: { ...state.drafts, [key]: text }, refused: { ...state.refused, [key]: null } }));
    if (key === 'new') keepNewDraft(text);
  }

  async function saveDraft() {
    clearTimeout(draftTimer);
    const { chosen, drafts, open } = get();
    if (!chosen || open?.chat.id !== chosen || open.chat.draft === (drafts[chosen] ?? '')) return;
    await storeDraft(chosen);
  }

  async function storeDraft(chatId: ChatId) {
    await core.call('chats.update', { chatId, draft: get().drafts[chatId] ?? '' }).catch((error) => {
      // The draft stays in the field, and is saved at the next connection.
      if (failureOf(error).code !== 'core-lost') refuse(chatId, failureOf(error));
    });
  }

  /** Only if it is still open: another message may be edited by now. */
  function closeEditor(messageId: MessageId) {
    if (get().editing === messageId) set({ editing: null });
  }

  async function showOverflow(chatId: ChatId) {
    const attachments = (get().attachments[chatId] ?? []).map((attachment) => attachment.id);
    const draft = get().drafts[chatId] ?? '';
    const from = get().chosen === chatId ? parentOf(get().branchFrom) : {};
    const measured = await core.call('context.measure', { chatId, draft, attachments, ...from });
    if (get().chosen !== chatId) return refuse(chatId, { code: 'context-full', message: '[chat] the context is full' });
    set({ overlay: { kind: 'overflow', chatId, ...measured, resumes: null } });
  }
});

/** The actions never change, so no component subscribes to them. */
export const actions: ChatActions = useChat.getState();

const incoming = createCoreEvents(useChat);

export const listenToChats = incoming.listen;

/** Keeps a new draft across reloads, unless it is too long for the browser's storage. */
function keepNewDraft(text: string): void {
  try {
    localStorage.setItem(NEW_DRAFT, text);
  } catch {
    localStorage.removeItem(NEW_DRAFT);
  }
}

const parentOf = (branchFrom: MessageId | null) => (branchFrom === null ? {} : { parentId: branchFrom });
