import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Chat, EngineStatus, Message, ModelEntry } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { useChat } from '../../stores/chat/store.ts';
import { modelById, useEngine } from '../../stores/engine.ts';
import type { Formats } from '../../ui/format.ts';

/** In place of an answer without text yet: what it is waiting for, otherwise the caret. */
export function Waiting({ message }: { message: Message }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const status = useEngine((state) => state.status);
  const models = useEngine((state) => state.models);
  const chats = useChat((state) => state.chats);
  const remote = useChatModel()?.remote ?? null;
  const reason = remote ? null : waitingFor(message, status, chats, models, t, formats);
  if (reason === null) return <span className="caret" />;
  return (
    <p role="status" className="text-fg-2">
      {reason}
    </p>
  );
}

export function waitingFor(
  { state, chatId }: Message,
  status: EngineStatus,
  chats: readonly Chat[],
  models: readonly ModelEntry[],
  t: TFunction,
  formats: Formats,
): string | null {
  if (status.phase === 'restarting') return t('waiting.engine');
  if (status.phase === 'loading') {
    const share = formats.percent(status.total > 0 ? status.done / status.total : 0);
    return t('waiting.model', { model: modelById(models, status.modelId)?.name ?? '', share });
  }
  if (status.phase !== 'busy' || state.status !== 'running') return null;
  const [first] = status.writing;
  if (!first || status.writing.some((one) => one.turnId === state.turnId || one.chatId === chatId)) return null;
  if (first.chatId === undefined) return t('waiting.work');
  const title = chats.find(({ id }) => id === first.chatId)?.title;
  return title ? t('waiting.answer', { title }) : t('waiting.otherAnswer');
}
