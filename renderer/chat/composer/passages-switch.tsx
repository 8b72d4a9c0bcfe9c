import { useTranslation } from 'react-i18next';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { Switch } from '../../ui/choice.tsx';
import { PopoverLine } from '../../ui/overlays/popover.tsx';

/** In a chat with a remote model: whether passages of documents are sent there. */
export function PassagesSwitch() {
  const { t } = useTranslation();
  const remote = useChatModel()?.remote ?? null;
  const chat = useChat((state) => state.open?.chat ?? null);
  const isNew = useChat((state) => state.chosen === null);
  // A chat exists from its first message on; that one asks.
  if (!remote || !chat || isNew) return null;
  const { engine, engineId, host } = remote;
  const name = t('remoteEngines.passages', { engine });
  return (
    <>
      <PopoverLine />
      <div className="flex items-center gap-3 px-2.5 py-1.5">
        <span className="min-w-0 flex-1">
          <bdi className="block truncate font-medium">{name}</bdi>
          <span className="block text-xs text-fg-3">{t('remoteEngines.passagesAbout', { host })}</span>
        </span>
        <Switch
          label={name}
          checked={chat.passagesTo === engineId}
          onChange={(on) => void actions.update({ passagesTo: on ? engineId : null })}
        />
      </div>
    </>
  );
}
