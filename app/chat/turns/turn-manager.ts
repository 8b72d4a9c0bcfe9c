import { setTimeout } from 'node:timers/promises';
import { checkCitations } from '../../documents/answer/citation-check.ts';
import {
  type Chat,
  type ChatId,
  guarded,
  LonghandError,
  MAX_QUEUED,
  type Message,
  type MessageId,
  type PauseAction,
  type Request,
  type Response,
  type ToolChoice,
  type ToolUseId,
  type TurnId,
} from '../../protocol/index.ts';
import { copyAttachments } from '../../store/chats/attachments.ts';
import { distinctTitle, findChat, getChat, updateChat } from '../../store/chats/chats.ts';
import { addMessage, copyBegin, getMessage, messagesOf, updateMessage } from '../../store/chats/messages.ts';
import { repeatFrom } from '../../store/chats/tool-uses.ts';
import { newId } from '../../store/database/uuid.ts';
import type { ChatDeps } from '../deps.ts';
import { firstLine } from '../first-line.ts';
import { branch, placeOf, queued } from '../tree.ts';
import { createMessageQueue } from './message-queue.ts';
import { closest, type Given, prepare } from './prepare.ts';
import { settle } from './settle.ts';
import { runTurn, type Turn } from './turn.ts';

/** How long to wait for a stopped turn on closing; after that its text so far is kept. */
const longestCloseMs = 1000;

type Started = Response<'turns.send'>;
type Sent = Request<'turns.send'>;

export type TurnManager = {
  send(sent: Sent): Started;
  editAndResend(messageId: MessageId, text: string): Started;
  editAnswer(messageId: MessageId, text: string): Message;
  regenerate(messageId: MessageId, documents: Request<'turns.regenerate'>['documents']): Started;
  continue(messageId: MessageId): Started;
  runToolAgain(messageId: MessageId, useId: ToolUseId): Started;
  cancel(turnId: TurnId): void;
  skipThinking(turnId: TurnId): void;
  cancelAutoDecision(turnId: TurnId): void;
  decide(turnId: TurnId, choice: PauseAction): void;
  decideTool(turnId: TurnId, useId: ToolUseId, choice: ToolChoice): void;
  editQueued(messageId: MessageId, text: string | null): void;
  moveQueued(messageId: MessageId, by: -1 | 1): void;
  sendQueued(messageId: MessageId): void;
  /** The message including text that is not on disk yet. */
  overlay(message: Message): Message;
  /** The chat that a turn belongs to. */
  chatOf(turnId: TurnId): ChatId | undefined;
  /** Whether any answer is being written. */
  busy(): boolean;
  /** Ends the turns of a chat that is being deleted. */
  leave(chatId: ChatId): void;
  /** Stops all turns and writes everything to disk. */
  close(): Promise<void>;
};

type Running = { chatId: ChatId; messageId: MessageId; turn: Turn; over: boolean };

export type TurnsOptions = {
  /** Called when a chat has an answer and an empty queue. */
  onAnswered: (chatId: ChatId) => void;
  onBusy: (busy: boolean) => void;
};

export function createTurnManager(core: ChatDeps, { onAnswered, onBusy }: TurnsOptions): TurnManager {
  const { db } = core;
  const safely = guarded(core.saving.report, (step: () => void) => step());
  const running = new Map<TurnId, Running>();
  const queue = createMessageQueue(core);
  let closing = false;

  const busy = () => [...running.values()].some((one) => !one.over);
  const ofChat = (chatId: ChatId) => [...running.values()].find((one) => one.chatId === chatId && !one.over);
  const find = (turnId: TurnId) => {
    const one = running.get(turnId);
    if (!one || one.over) throw new LonghandError('not-found', `[turns] turn ${turnId} is over`);
    return one.turn;
  };

  /** Stores a running answer as a child of `parentId` and selects it. */
  function storeAnswer(chatId: ChatId, parentId: MessageId): Message {
    return db.transaction(() => {
      const state = { status: 'running' as const, turnId: newId(core.now()) as TurnId };
      const message = addMessage(db, { chatId, parentId, role: 'assistant', state }, core.now());
      updateChat(db, chatId, { leafId: message.id, updatedAt: core.now() });
      return message;
    });
  }

  /** Starts writing a stored running message. `earlier`: the message as it was, if it is being continued. */
  function launch(
    message: Message,
    earlier: Message | null,
    { unattended = false, given }: { unattended?: boolean; given?: Given } = {},
  ): { messageId: MessageId; turnId: TurnId } {
    const { id: messageId, chatId, state } = message;
    const turnId = state.status === 'running' ? state.turnId : (newId(core.now()) as TurnId);
    core.emit('chat.changed', getChat(db, chatId));
    core.emit('message.changed', message);
    const turn = runTurn({
      core,
      turnId,
      answer: earlier ?? message,
      continuation: earlier !== null,
      unattended,
      prepare: (after) =>
        after
          ? prepare(core, turnId, getChat(db, chatId), getMessage(db, messageId), true, after.grounding)
          : prepare(core, turnId, getChat(db, chatId), message, earlier !== null, given),
      onEnd(sound) {
        one.over = true;
        safely(() => {
          if (sound && !closing && !sendNext(chatId)) onAnswered(chatId);
        });
        if (!busy()) onBusy(false);
      },
      onStored: () => running.delete(turnId),
    });
    const one: Running = { chatId, messageId, turn, over: false };
    running.set(turnId, one);
    onBusy(true);
    return { messageId, turnId };
  }

  /** Sends the first queued message of a chat. If that cannot be stored, it stays queued. */
  function sendNext(chatId: ChatId): boolean {
    const chat = findChat(db, chatId);
    if (!chat || ofChat(chatId)) return false;
    const [next] = queued(messagesOf(db, chatId));
    if (!next) return false;
    const [question, reply] = db.transaction(() => {
      const parentId = next.parentId ?? chat.leafId;
      const sent = updateMessage(db, next.id, { parentId, state: { status: 'done', reason: null } });
      return [sent, storeAnswer(chatId, next.id)];
    });
    core.emit('message.changed', question);
    launch(reply, null);
    return true;
  }

  /** The answer to `parentId` that is running and still empty. */
  function answerToContinue(chatId: ChatId, parentId: MessageId): { messageId: MessageId; turnId: TurnId } | null {
    const active = ofChat(chatId);
    const message = active?.turn.message();
    if (!active || message?.parentId !== parentId || message.text !== '' || message.thinking !== '') return null;
    return { messageId: active.messageId, turnId: active.turn.turnId };
  }

  function stopChat(chatId: ChatId) {
    ofChat(chatId)?.turn.cancel();
  }

  /** `place`: position in the queue; null: send at once. */
  function storeQuestion(chat: Chat, sent: Sent, place: number | null): Message {
    return db.transaction(() => {
      const message = addMessage(
        db,
        {
          chatId: chat.id,
          // A queued message goes to the end of the branch as it will be then, unless it begins a branch of its own.
          parentId: sent.parentId ?? (place === null ? chat.leafId : null),
          role: 'user',
          text: sent.text,
          attachments: sent.attachments,
          state: place === null ? { status: 'done', reason: null } : { status: 'queued', place },
        },
        core.now(),
      );
      const title = chat.title === '' ? distinctTitle(db, firstLine(sent.text), chat.id) : undefined;
      updateChat(db, chat.id, { draft: '', title, updatedAt: core.now() });
      return message;
    });
  }

  function sendAtOnce(chat: Chat, sent: Sent): Started {
    const [question, reply] = db.transaction(() => {
      const message = storeQuestion(chat, sent, null);
      return [message, storeAnswer(chat.id, message.id)];
    });
    core.emit('message.changed', question);
    return { userMessageId: question.id, ...launch(reply, null, { unattended: sent.unattended }) };
  }

  function sendLater(chat: Chat, sent: Sent, waiting: readonly Message[]): Started {
    const active = ofChat(chat.id);
    const paused = active?.turn.message()?.state.status === 'paused';
    const first = sent.now || paused;
    if (active && !first && waiting.length >= MAX_QUEUED) {
      const words = `${MAX_QUEUED} messages wait in this chat already`;
      throw new LonghandError('conflict', `[turns.send] ${words}`, { details: { reason: 'queue-full' } });
    }
    const place = first ? placeOf(waiting[0]) - 1 : placeOf(waiting.at(-1));
    const message = storeQuestion(chat, sent, place);
    core.emit('chat.changed', getChat(db, chat.id));
    core.emit('message.changed', message);
    if (!active) sendNext(chat.id);
    // Sending a message also answers a turn that waits for a decision.
    else if (paused) active.turn.decide('stop');
    else if (sent.now) active.turn.cancel();
    return { userMessageId: message.id, messageId: message.id, turnId: null };
  }

  function checkParent({ chatId, parentId }: Sent) {
    if (parentId === undefined) return;
    const parent = getMessage(db, parentId);
    if (parent.chatId !== chatId || parent.role !== 'assistant') {
      throw new LonghandError(
        'bad-request',
        `[turns.send] a branch starts at an answer of this chat, not at ${parentId}`,
      );
    }
  }

  settle(core);
  return {
    send(sent) {
      const chat = getChat(db, sent.chatId);
      checkParent(sent);
      if (sent.text.trim() === '' && sent.attachments.length === 0) {
        throw new LonghandError('bad-request', '[turns.send] an empty message; text or an attachment is needed');
      }
      const waiting = queued(messagesOf(db, chat.id));
      const behind = ofChat(chat.id) !== undefined || waiting.length > 0;
      return behind ? sendLater(chat, sent, waiting) : sendAtOnce(chat, sent);
    },

    editAndResend(messageId, text) {
      const old = getMessage(db, messageId);
      if (old.role !== 'user')
        throw new LonghandError('bad-request', '[turns.editAndResend] only the user’s messages can be edited');
      const active = ofChat(old.chatId);
      const [message, reply] = db.transaction(() => {
        const added = addMessage(
          db,
          { ...old, text, state: { status: 'done', reason: null }, attachments: [] },
          core.now(),
        );
        copyAttachments(db, old.id, added.id, core.now());
        return [getMessage(db, added.id), storeAnswer(old.chatId, added.id)];
      });
      core.emit('message.changed', message);
      const started = launch(reply, null);
      // Not before: what waits would be sent in between.
      active?.turn.cancel();
      return { userMessageId: message.id, ...started };
    },

    editAnswer(messageId, text) {
      const old = getMessage(db, messageId);
      if (old.role !== 'assistant')
        throw new LonghandError('bad-request', '[turns.editAnswer] only answers can be edited');
      const active = ofChat(old.chatId);
      const [message, chat] = db.transaction(() => {
        const fields = {
          ...old,
          text,
          thinking: '',
          state: { status: 'done' as const, reason: null },
          attachments: [],
        };
        const { id } = addMessage(db, fields, core.now());
        const written = updateMessage(db, id, { grounding: old.grounding && checkCitations(text, old.grounding) });
        return [written, updateChat(db, old.chatId, { leafId: id, updatedAt: core.now() })];
      });
      core.emit('message.changed', message);
      core.emit('chat.changed', chat);
      if (active?.messageId === messageId) active.turn.cancel();
      return message;
    },

    regenerate(messageId, documents) {
      const old = getMessage(db, messageId);
      if (old.role !== 'assistant' || old.parentId === null) {
        throw new LonghandError('bad-request', '[turns.regenerate] only answers can be regenerated');
      }
      // Pressed twice, or in two windows: the answer that has just begun is the one that was wanted.
      const continuation = answerToContinue(old.chatId, old.parentId);
      if (continuation) return { userMessageId: null, ...continuation };
      const active = ofChat(old.chatId);
      const given = documents === 'search' ? undefined : documents === 'without' ? null : closest(old);
      const started = launch(storeAnswer(old.chatId, old.parentId), null, { given });
      // Not earlier: queued messages would be sent in between, and if the new answer cannot be stored the old one would be lost.
      active?.turn.cancel();
      return { userMessageId: null, ...started };
    },

    continue(messageId) {
      const { role, chatId } = getMessage(db, messageId);
      if (role !== 'assistant')
        throw new LonghandError('bad-request', '[turns.continue] only answers can be continued');
      const active = ofChat(chatId);
      if (active?.messageId === messageId) return { userMessageId: null, messageId, turnId: active.turn.turnId };
      if (active) throw new LonghandError('conflict', '[turns.continue] this chat is being answered');
      // Text that the previous writer still holds comes first.
      const held = [...running.values()].find((one) => one.messageId === messageId);
      if (held && !held.turn.flush())
        throw new LonghandError('disk-full', '[turns.continue] the text of the answer cannot be saved yet');
      const message = getMessage(db, messageId);
      const chat = getChat(db, chatId);
      const stored = db.transaction(() => {
        const shown = branch(messagesOf(db, chat.id), chat.leafId).some((one) => one.id === messageId);
        if (!shown) updateChat(db, chat.id, { leafId: messageId });
        return updateMessage(db, messageId, { state: { status: 'running', turnId: newId(core.now()) as TurnId } });
      });
      return { userMessageId: null, ...launch(stored, message) };
    },

    runToolAgain(messageId, useId) {
      const old = getMessage(db, messageId);
      const use = old.toolUses.find(({ id }) => id === useId);
      if (!use || old.parentId === null) throw new LonghandError('not-found', '[turns.runToolAgain] no such call');
      const active = ofChat(old.chatId);
      if (active?.messageId === messageId)
        throw new LonghandError('conflict', '[turns.runToolAgain] this answer is being written');
      const { chatId, parentId, grounding } = old;
      const message = db.transaction(() => {
        const { id } = storeAnswer(chatId, parentId);
        copyBegin(db, messageId, id, {
          text: use.textAt,
          thinking: use.thinkingAt,
          tokens: repeatFrom(db, use, messageId, id, core.now()),
        });
        return getMessage(db, id);
      });
      const started = launch(message, message, { given: grounding });
      active?.turn.cancel();
      return { userMessageId: null, ...started };
    },

    cancel: (turnId) => running.get(turnId)?.turn.cancel(),
    skipThinking: (turnId) => find(turnId).skipThinking(),
    cancelAutoDecision: (turnId) => find(turnId).cancelAutoDecision(),
    decide: (turnId, choice) => find(turnId).decide(choice),
    decideTool: (turnId, useId, choice) => find(turnId).decideTool(useId, choice),

    editQueued: queue.editQueued,
    moveQueued: queue.moveQueued,
    sendQueued(messageId) {
      const message = queue.waiting(messageId);
      if (ofChat(message.chatId)) throw new LonghandError('conflict', '[turns.sendQueued] this chat is being answered');
      queue.toFront(message);
      sendNext(message.chatId);
    },

    overlay: (message) =>
      [...running.values()].find((one) => one.messageId === message.id)?.turn.overlay(message) ?? message,
    chatOf: (turnId) => running.get(turnId)?.chatId,
    busy,
    leave: stopChat,
    async close() {
      closing = true;
      for (const { turn, over } of running.values()) {
        if (!over) turn.leave();
      }
      for (let waited = 0; busy() && waited < longestCloseMs; waited += 10) await setTimeout(10);
      for (const { turn } of running.values()) turn.close();
    },
  };
}
