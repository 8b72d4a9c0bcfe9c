import { type ModelEntry, modelForNewChats } from '../../../app/protocol/index.ts';
import { modelById, useEngine } from '../engine.ts';
import { useSettings } from '../settings.ts';
import { useChat } from './store.ts';

/** The model of this chat: its own, otherwise the default for new chats. */
export function useChatModel(): ModelEntry | null {
  const models = useEngine((state) => state.models);
  const own = useChat((state) => (state.chosen === null ? state.fresh.modelId : (state.open?.chat.modelId ?? null)));
  const fallback = useSettings((state) => state.values.defaultModelId);
  return modelById(models, own) ?? modelForNewChats(models, fallback);
}
