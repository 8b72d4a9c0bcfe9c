import type { ChatId, MessageId } from '../../app/protocol/index.ts';
import { t } from '../i18n.ts';
import { ADD_FILES, focusComposer, SEARCH_FIELD } from '../lib/focus.ts';
import { isForked } from '../stores/chat/branches.ts';
import { isRunning } from '../stores/chat/reducers.ts';
import { useChat } from '../stores/chat/store.ts';
import { runningTurn, visibleBranch } from '../stores/chat/visible-branch.ts';
import { useDocuments } from '../stores/documents/store.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { copyText } from '../ui/clipboard.ts';
import type { IconName } from '../ui/icon.tsx';
import { useToasts } from '../ui/toast.tsx';
import type { CommandId } from './command-keys.ts';
import { deleteChat } from './delete-chat.ts';
import { answerAsMarkdown, quotingIn } from './export.ts';
import { attachScreenshot, canTakeScreenshot } from './screenshot.ts';
import { showMessage } from './show-message.ts';

/** Everything that has a key or a line in the palette. Names are the strings `commands.<id>`. */
export type Command = {
  id: CommandId;
  icon: IconName;
  /** Cursor keys act only outside a text field. */
  outsideText?: true;
  hidden?: true;
  available(): boolean;
  run(): void;
};

const chat = () => useChat.getState();
const shell = () => useShell.getState();
const always = () => true;
const inChat = () => shell().place.kind === 'chat';
const hasChat = () => inChat() && chat().open !== null;
const writing = () => inChat() && runningTurn(chat()) !== null;

function lastAnswer() {
  return visibleBranch(chat()).findLast((message) => message.role === 'assistant') ?? null;
}

function focusedMessageId(): string | null {
  return document.activeElement?.closest<HTMLElement>('[data-message]')?.dataset.message ?? null;
}

function stepVersion(step: 1 | -1): void {
  const id = focusedMessageId() ?? lastAnswer()?.id;
  document
    .querySelector<HTMLButtonElement>(`[data-message="${id}"] [data-version="${step === 1 ? 'next' : 'previous'}"]`)
    ?.click();
}

function stepMessage(step: 1 | -1): void {
  const messages = [...document.querySelectorAll<HTMLElement>('[data-message]')];
  const at = messages.findIndex((element) => element.dataset.message === focusedMessageId());
  const next = messages[at === -1 ? (step === 1 ? 0 : messages.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function editLast(): void {
  const last = visibleBranch(chat()).findLast((message) => message.role === 'user');
  if (last) chat().setEditing(last.id);
}

export { editLast };

export const commands: readonly Command[] = [
  { id: 'new-chat', icon: 'new', available: always, run: () => openChat(null) },
  {
    id: 'palette',
    icon: 'search',
    hidden: true,
    available: always,
    run: () => shell().setPalette('all'),
  },
  { id: 'search', icon: 'search', available: always, run: () => shell().setPalette('chats') },
  { id: 'find', icon: 'search', available: hasChat, run: () => chat().setOverlay({ kind: 'find' }) },
  { id: 'stop', icon: 'stop', available: writing, run: () => void chat().stop() },
  { id: 'answer-now', icon: 'answer', available: writing, run: () => void chat().answerNow() },
  {
    id: 'send-now',
    icon: 'send',
    hidden: true,
    available: inChat,
    run: () => void chat().send(true),
  },
  {
    id: 'models',
    icon: 'models',
    available: inChat,
    run: () => chat().setOverlay({ kind: 'model-picker' }),
  },
  {
    id: 'models-page',
    icon: 'models',
    available: always,
    run: () => shell().go({ kind: 'models' }),
  },
  {
    id: 'documents',
    icon: 'documents',
    available: always,
    run: () => shell().go({ kind: 'documents' }),
  },
  {
    id: 'add-documents',
    icon: 'attach',
    available: always,
    run: () => onDocuments(() => document.getElementById(ADD_FILES)?.click()),
  },
  {
    id: 'new-collection',
    icon: 'collection',
    available: always,
    run: () => onDocuments(() => useDocuments.setState({ dialog: { kind: 'new' } })),
  },
  {
    id: 'search-documents',
    icon: 'search',
    available: always,
    run: () => onDocuments(() => document.getElementById(SEARCH_FIELD)?.focus()),
  },
  {
    id: 'chat-documents',
    icon: 'documents',
    available: inChat,
    run: () => chat().setOverlay({ kind: 'documents' }),
  },
  {
    id: 'sources',
    icon: 'panel',
    available: () => hasChat() && (chat().sources !== null || lastSourced() !== null),
    run: toggleSources,
  },
  {
    id: 'performance',
    icon: 'performance',
    available: always,
    run: () => shell().go({ kind: 'performance' }),
  },
  {
    id: 'server',
    icon: 'server',
    available: always,
    run: () => shell().go({ kind: 'server' }),
  },
  {
    id: 'thinking',
    icon: 'pen',
    available: inChat,
    run: () => chat().setOverlay({ kind: 'thinking' }),
  },
  {
    id: 'attach',
    icon: 'attach',
    available: inChat,
    run: () => document.getElementById('attach')?.click(),
  },
  {
    id: 'screenshot',
    icon: 'image',
    available: () => inChat() && canTakeScreenshot(),
    run: () => void attachScreenshot(),
  },
  {
    id: 'retry',
    icon: 'retry',
    available: () => hasChat() && lastAnswer() !== null && !writing(),
    run: retryLast,
  },
  {
    id: 'branch',
    icon: 'branch',
    available: () => hasChat() && lastAnswer() !== null,
    run: branchHere,
  },
  {
    id: 'branches',
    icon: 'branch',
    available: () => hasChat() && isForked(chat().open?.messages),
    run: () => chat().setOverlay({ kind: 'branches' }),
  },
  {
    id: 'copy-last',
    icon: 'copy',
    available: () => hasChat() && lastAnswer() !== null,
    run: copyLast,
  },
  {
    id: 'previous-version',
    icon: 'back',
    outsideText: true,
    hidden: true,
    available: hasChat,
    run: () => stepVersion(-1),
  },
  {
    id: 'next-version',
    icon: 'forward',
    outsideText: true,
    hidden: true,
    available: hasChat,
    run: () => stepVersion(1),
  },
  {
    id: 'previous-message',
    icon: 'up',
    outsideText: true,
    hidden: true,
    available: hasChat,
    run: () => stepMessage(-1),
  },
  {
    id: 'next-message',
    icon: 'down',
    outsideText: true,
    hidden: true,
    available: hasChat,
    run: () => stepMessage(1),
  },
  {
    id: 'undo',
    icon: 'rewind',
    outsideText: true,
    hidden: true,
    available: () => useToasts.getState().shown.length > 0,
    run: () => void useToasts.getState().actOnLast(),
  },
  { id: 'rename', icon: 'edit', available: hasChat, run: () => chat().setRenaming(chat().chosen) },
  {
    id: 'pin',
    icon: 'pin',
    available: hasChat,
    run: () => void chat().update({ pinned: !chat().open?.chat.pinned }),
  },
  {
    id: 'chat-settings',
    icon: 'sampling',
    available: hasChat,
    run: () => chat().setOverlay({ kind: 'chat-settings' }),
  },
  {
    id: 'loop-guard',
    icon: 'loop',
    available: hasChat,
    run: () => void chat().update({ loopGuard: !chat().open?.chat.loopGuard }),
  },
  {
    id: 'delete',
    icon: 'delete',
    available: hasChat,
    run: () => {
      const open = chat().open;
      if (open) void deleteChat(open.chat);
    },
  },
  { id: 'print', icon: 'print', available: hasChat, run: () => window.print() },
  { id: 'toggle-sidebar', icon: 'sidebar', available: always, run: () => shell().toggleSidebar() },
  {
    id: 'settings',
    icon: 'settings',
    available: always,
    run: () => shell().go({ kind: 'settings', section: 'appearance' }),
  },
  {
    id: 'shortcuts',
    icon: 'keys',
    available: always,
    run: () => shell().go({ kind: 'settings', section: 'shortcuts' }),
  },
  {
    id: 'theme-system',
    icon: 'sun',
    available: always,
    run: () => void useSettings.getState().set({ theme: 'system' }),
  },
  {
    id: 'theme-light',
    icon: 'sun',
    available: always,
    run: () => void useSettings.getState().set({ theme: 'light' }),
  },
  {
    id: 'theme-dark',
    icon: 'sun',
    available: always,
    run: () => void useSettings.getState().set({ theme: 'dark' }),
  },
];

const lastSourced = () =>
  visibleBranch(chat()).findLast((message) => (message.grounding?.sources.length ?? 0) > 0) ?? null;

/** Toggles the sources of the focused answer, otherwise of the last one. */
function toggleSources(): void {
  if (chat().sources !== null) {
    chat().hideSources();
    return;
  }
  const focused = focusedMessageId();
  const message = visibleBranch(chat()).find(({ id, grounding }) => id === focused && grounding) ?? lastSourced();
  const source = message?.grounding?.sources.find(({ cited }) => cited) ?? message?.grounding?.sources[0];
  if (message && source) chat().showSource(message.id, source.number);
}

/** Runs on the documents page, once it is rendered. */
function onDocuments(run: () => void): void {
  shell().go({ kind: 'documents' });
  requestAnimationFrame(run);
}

function copyLast(): void {
  const last = lastAnswer();
  if (last) void copyText(answerAsMarkdown(last, quotingIn(t)));
}

function retryLast(): void {
  const last = lastAnswer();
  if (last && !isRunning(last)) void chat().retry(last.id);
}

/** Branches from the focused answer, otherwise from the last one. */
function branchHere(): void {
  const focused = chat().open?.messages.get((focusedMessageId() ?? '') as MessageId);
  const from = focused?.role === 'assistant' ? focused : lastAnswer();
  if (!from) return;
  chat().setBranchFrom(from.id);
  focusComposer();
}

export function openChat(chatId: Parameters<ReturnType<typeof chat>['choose']>[0]): void {
  shell().go({ kind: 'chat' });
  void chat().choose(chatId);
  focusComposer();
}

/** Opens a chat on the branch of a message, with that message in view. */
export async function openMessage(chatId: ChatId, messageId: MessageId): Promise<void> {
  shell().go({ kind: 'chat' });
  await chat().choose(chatId);
  if (chat().open?.chat.id !== chatId) return;
  if (!visibleBranch(chat()).some(({ id }) => id === messageId)) await chat().show(messageId);
  showMessage(messageId);
}

export const commandById = (id: CommandId): Command => commands.find((command) => command.id === id) as Command;
