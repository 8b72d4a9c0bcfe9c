import { create } from 'zustand';
import {
  type Attachment,
  type Chat,
  type ChatId,
  type Choice,
  type CollectionId,
  type Failure,
  failureOf,
  type Message,
  type MessageId,
  type RequestInput,
  type StatsSample,
  type TurnId,
} from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useSettings } from '../settings/store.ts';
import { useEngine } from '../shell/engine.ts';
import { chatPages } from './chat-pages.ts';
import { createCommits } from './commits.ts';
import { focusComposer } from './focus.ts';
import {
  type ChatData,
  isRunning,
  noChats,
  type TurnPayload,
  withChat,
  withChats,
  withMessage,
  withOlderChats,
  withOpened,
  withoutChat,
  withoutMessage,
  withTurnEvents,
} from './state.ts';
import { branchOf, newestEnd } from './tree.ts';

const COMMIT_MS = 50;
const DRAFT_MS = 400;
const NEW_DRAFT = 'longhand.draft';
export const LONGEST_QUEUE = 5;

const nothingChosen: ChatView['fresh'] = { modelId: null, thinking: null, collectionIds: [] };

/** What a view of a chat begins with, and loses with the chat. */
const nothingBegun = {
  overlay: { at: 'none' },
  editing: null,
  branchFrom: null,
  refused: null,
  sources: null,
} as const satisfies Partial<ChatView>;

/** Where a draft is kept: under its chat, or as that of the chat that does not exist yet. */
export type DraftKey = ChatId | 'new';

export type Overlay =
  | { at: 'none' }
  | { at: 'model-picker' }
  | { at: 'thinking' }
  | { at: 'documents' }
  | { at: 'chat-settings' }
  | { at: 'find' }
  | { at: 'branches' }
  | { at: 'report'; failure: Failure }
  /** `resumes`: the answer that reached the end of the context; else a message waits in the composer. */
  | { at: 'overflow'; used: number; draft: number; limit: number; resumes: MessageId | null };

type ChatView = {
  /** The chat that was asked for; `open` follows when it is read. Null: a new chat. */
  chosen: ChatId | null;
  drafts: Partial<Record<DraftKey, string>>;
  attachments: Partial<Record<DraftKey, Attachment[]>>;
  /** The model, thinking and collections of the chat that does not exist yet. */
  fresh: { modelId: Chat['modelId']; thinking: boolean | null; collectionIds: CollectionId[] };
  overlay: Overlay;
  editing: MessageId | null;
  /** The answer that the next message follows, while it begins a branch of its own. */
  branchFrom: MessageId | null;
  renaming: ChatId | null;
  /** What could not be done with the composer's message; its text is back in the composer. */
  refused: Failure | null;
  samples: ReadonlyMap<MessageId, StatsSample[]>;
  /** The panel of sources: of which answer, and which of them is shown. */
  sources: { messageId: MessageId; number: number; quoted: boolean } | null;
};

type ChatActions = {
  load(): Promise<void>;
  choose(chatId: ChatId | null): Promise<void>;
  update(change: Omit<RequestInput<'chats.update'>, 'chatId'>, chatId?: ChatId): Promise<void>;
  remove(chatId: ChatId): Promise<void>;
  restore(chatId: ChatId): Promise<void>;
  setDraft(text: string): void;
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
    commits.flush();
    if (get().chosen === chatId)
      set((state) => ({ ...withOpened(state, chat, messages), drafts: { [chatId]: chat.draft, ...state.drafts } }));
  }

  /** A turn was started: its messages come as events; where one is missing the chat is read again. */
  async function started(chatId: ChatId, ids: (MessageId | null)[]) {
    commits.flush();
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
      saveDraft();
      set((state) => ({
        ...nothingBegun,
        chosen: chatId,
        open: state.open?.chat.id === chatId ? state.open : null,
        live: new Map(),
      }));
      if (chatId) await read(chatId);
    },

    async update(change, chatId = openChatId()) {
      const chat = await core.call('chats.update', { chatId, ...change });
      set((state) => withChat(state, chat));
    },

    async remove(chatId) {
      await core.call('chats.delete', { chatId });
      set((state) => without(state, chatId));
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
        saveDraft();
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

  function saveDraft() {
    clearTimeout(draftTimer);
    const { chosen, drafts, open } = get();
    if (!chosen || open?.chat.id !== chosen || open.chat.draft === (drafts[chosen] ?? '')) return;
    void core
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

const commits = createCommits<TurnPayload>((batch) => {
  useChat.setState((state) => withTurnEvents(state, batch, performance.now()));
  addSamples(batch);
  if (batch.some(({ event }) => event.type === 'delta')) useEngine.setState({ restarted: false });
}, COMMIT_MS);

function addSamples(batch: readonly TurnPayload[]): void {
  const { samples, open } = useChat.getState();
  const next = new Map(samples);
  for (const { chatId, messageId, event } of batch) {
    if (event.type !== 'stats' || open?.chat.id !== chatId) continue;
    next.set(messageId, [...(next.get(messageId) ?? []), event.sample]);
  }
  if (batch.some(({ event }) => event.type === 'stats')) useChat.setState({ samples: next });
}

/** Everything but text is applied after the text that came before it. */
export function listenToChats(): () => void {
  const change = (apply: (data: ChatData) => ChatData) => {
    commits.flush();
    useChat.setState((state) => apply(state));
  };
  const stops = [
    core.on('turn', (payload) => commits.add(payload)),
    core.on('chat.changed', (chat) => change((data) => withChat(data, chat))),
    core.on('message.changed', (message) => change((data) => withMessage(data, message))),
    core.on('message.deleted', ({ chatId, messageId }) => change((data) => withoutMessage(data, chatId, messageId))),
    core.on('chat.deleted', ({ chatId }) => {
      commits.flush();
      useChat.setState((state) => without(state, chatId));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Where the chat was on screen, an empty one is. */
const without = (state: ChatData & ChatView, chatId: ChatId) => ({
  ...withoutChat(state, chatId),
  ...(state.chosen === chatId && { ...nothingBegun, chosen: null }),
});

/** Over a reload. One that is too long for the browser's store lasts as long as the page. */
function keepNewDraft(text: string): void {
  try {
    localStorage.setItem(NEW_DRAFT, text);
  } catch {
    localStorage.removeItem(NEW_DRAFT);
  }
}

const parentOf = (branchFrom: MessageId | null) => (branchFrom === null ? {} : { parentId: branchFrom });

type Shown = Pick<ChatData, 'open'> & Pick<ChatView, 'branchFrom' | 'editing'>;

/** The last message on screen: that of the chat, or the one that a new branch begins at. What is being edited stays on
 *  screen, also when another window shows another branch. */
export function shownEnd({ open, branchFrom, editing }: Shown): MessageId | null {
  const end = branchFrom ?? open?.chat.leafId ?? null;
  if (!open || editing === null || !open.messages.has(editing)) return end;
  return branchOf(open.messages, end).some(({ id }) => id === editing) ? end : newestEnd(open.messages, editing);
}

/** The branch on screen. */
export const shownBranch = (state: Shown): Message[] =>
  state.open ? branchOf(state.open.messages, shownEnd(state)) : [];

export function runningTurn(data: ChatData): TurnId | null {
  if (!data.open) return null;
  for (const message of data.open.messages.values()) {
    if (isRunning(message) && 'turnId' in message.state) return message.state.turnId;
  }
  return null;
}
