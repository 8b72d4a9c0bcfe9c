import { useTranslation } from 'react-i18next';
import { canChat } from '../../../app/protocol/index.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useEngine } from '../../stores/engine.ts';
import { Icon } from '../../ui/icon.tsx';

/** Warns before pictures are sent to a model without vision, and offers one with it. */
export function UnseenNotice() {
  const { t } = useTranslation();
  const model = useChatModel();
  const models = useEngine((state) => state.models);
  const chosen = useChat((state) => state.chosen);
  const sees = model?.remote ? model.remote.pictures : model?.description?.vision != null;
  if (!model || sees || !(model.remote || model.description)) return null;
  const other = models.find((one) => canChat(one) && !one.missing && one.description?.vision);
  const choose = () => {
    if (!other) return;
    if (chosen) void actions.update({ modelId: other.id });
    else useChat.setState((state) => ({ fresh: { ...state.fresh, modelId: other.id } }));
  };
  return (
    <p role="status" className="flex items-center gap-2 px-3.5 pt-2.5 text-fg-2">
      <Icon name="warning" size={14} />
      <span className="min-w-0">{t('pictures.unseen', { model: model.name })}</span>
      {other && (
        <button type="button" onClick={choose} className="flex-none font-medium text-fg underline underline-offset-2">
          {t('pictures.useOther', { model: other.name })}
        </button>
      )}
    </p>
  );
}
