import { checkRoom } from '../chat/context/context-usage.ts';
import type { ChatDeps } from '../chat/deps.ts';
import { createSendOrder } from '../chat/turns/send-order.ts';
import type { TurnManager } from '../chat/turns/turn-manager.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import type { CallName, Handlers } from '../protocol/index.ts';
import { getChat } from '../store/chats/chats.ts';
import { samplesOf } from '../store/chats/message-chunks.ts';

type TurnCall = Extract<CallName, `turns.${string}`>;

/** Handlers of the `turns.*` calls. Messages of a chat are stored in the order they arrived, although each is counted first. */
export function turnHandlers(
  core: ChatDeps,
  turns: TurnManager,
  models: Pick<ModelRegistry, 'look'>,
): Pick<Handlers, TurnCall> {
  const inOrder = createSendOrder();
  return {
    'turns.send': (sent) =>
      inOrder(sent.chatId, async () => {
        await models.look(getChat(core.db, sent.chatId).modelId);
        await checkRoom(core, sent);
        return turns.send(sent);
      }),
    'turns.editAndResend': ({ messageId, text }) => turns.editAndResend(messageId, text),
    'turns.editAnswer': ({ messageId, text }) => turns.editAnswer(messageId, text),
    'turns.regenerate': ({ messageId, documents }) => turns.regenerate(messageId, documents),
    'turns.continue': ({ messageId }) => turns.continue(messageId),
    'turns.runToolAgain': ({ messageId, useId }) => turns.runToolAgain(messageId, useId),
    'turns.cancel': ({ turnId }) => turns.cancel(turnId),
    'turns.skipThinking': ({ turnId }) => turns.skipThinking(turnId),
    'turns.cancelAutoDecision': ({ turnId }) => turns.cancelAutoDecision(turnId),
    'turns.decideTool': ({ turnId, useId, choice }) => turns.decideTool(turnId, useId, choice),
    'turns.decide': ({ turnId, choice }) => turns.decide(turnId, choice),
    'turns.editQueued': ({ messageId, text }) => turns.editQueued(messageId, text),
    'turns.moveQueued': ({ messageId, by }) => turns.moveQueued(messageId, by),
    'turns.sendQueued': ({ messageId }) => turns.sendQueued(messageId),
    'turns.samples': ({ messageId }) => samplesOf(core.db, messageId),
  };
}
