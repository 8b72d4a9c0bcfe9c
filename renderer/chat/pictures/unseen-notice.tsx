import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { canChat, takesVisionFile } from '../../../app/protocol/index.ts';
import { ModelSettingsDialog } from '../../parts/model-settings.tsx';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useEngine } from '../../stores/engine.ts';
import { useModels } from '../../stores/models/store.ts';
import { useShell } from '../../stores/shell.ts';
import { Icon } from '../../ui/icon.tsx';

/** Warns before pictures are sent to a model without vision, and offers what would help: its vision file, a model that sees, or the
 *  catalogue. */
export function UnseenNotice() {
  const { t } = useTranslation();
  const model = useChatModel();
  const models = useEngine((state) => state.models);
  const chosen = useChat((state) => state.chosen);
  const [configuring, setConfiguring] = useState(false);
  const sees = model?.remote ? model.remote.pictures : model?.description?.vision != null;
  if (!model || sees || !(model.remote || model.description)) return null;
  const other = models.find((one) => canChat(one) && !one.missing && one.description?.vision);
  const choose = () => {
    if (!other) return;
    if (chosen) void actions.update({ modelId: other.id });
    else useChat.setState((state) => ({ fresh: { ...state.fresh, modelId: other.id } }));
  };
  const catalogue = () => {
    useModels.setState({ tab: 'catalogue' });
    useShell.getState().go({ kind: 'models' });
  };
  const blind = takesVisionFile(model);
  return (
    <>
      <p role="status" className="flex items-center gap-2 px-3.5 pt-2.5 text-fg-2">
        <Icon name="warning" size={14} />
        <span className="min-w-0">{t(blind ? 'pictures.needsVision' : 'pictures.unseen', { model: model.name })}</span>
        {blind && <Way onClick={() => setConfiguring(true)}>{t('pictures.chooseVision')}</Way>}
        {other ? (
          <Way onClick={choose}>{t('pictures.useOther', { model: other.name })}</Way>
        ) : (
          !blind && <Way onClick={catalogue}>{t('pictures.getOther')}</Way>
        )}
      </p>
      {configuring && <ModelSettingsDialog key={model.id} model={model} onClose={() => setConfiguring(false)} />}
    </>
  );
}

const Way = ({ onClick, children }: { onClick: () => void; children: string }) => (
  <button type="button" onClick={onClick} className="flex-none font-medium text-fg underline underline-offset-2">
    {children}
  </button>
);
