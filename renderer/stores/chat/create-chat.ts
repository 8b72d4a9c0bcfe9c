import { type Chat, modelForNewChats } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useEngine } from '../engine.ts';
import { useSettings } from '../settings.ts';
import { type ChatView, chosenIn } from './view-state.ts';

/** Creates a chat with the choices made before it existed. */
export async function createChat(fresh: ChatView['fresh']): Promise<Chat> {
  const { defaultModelId } = useSettings.getState().values;
  // Set explicitly, so that the chat keeps it when another model is used later.
  const modelId = fresh.modelId ?? modelForNewChats(useEngine.getState().models, defaultModelId)?.id ?? null;
  const chat = await core.call('chats.create', { modelId });
  const chosen = chosenIn(fresh);
  return chosen === null ? chat : await core.call('chats.update', { chatId: chat.id, ...chosen });
}
