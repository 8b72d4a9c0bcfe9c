import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Chat } from '../../app/protocol/index.ts';
import { SamplingFields } from '../parts/sampling-fields.tsx';
import { actions, useChat } from '../stores/chat/store.ts';
import { Button } from '../ui/button.tsx';
import { TextArea } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';

/** Instructions and sampling of this chat. Empty fields follow Settings, then the model. */
export function ChatSettings() {
  const chat = useChat((state) => state.open?.chat ?? null);
  const open = useChat((state) => state.overlay.kind === 'chat-settings');
  return open && chat ? <Sheet key={chat.id} chat={chat} /> : null;
}

function Sheet({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  const { update, setOverlay } = actions;
  const [systemPrompt, setSystemPrompt] = useState(chat.systemPrompt);
  const [sampling, setSampling] = useState(chat.sampling);
  const close = () => setOverlay({ kind: 'none' });
  return (
    <Dialog
      open
      onClose={close}
      title={t('chat.settings')}
      description={t('chatSettings.about')}
      width={560}
      footer={
        <>
          <Button large kind="quiet" onClick={() => setSampling({})}>
            {t('chatSettings.reset')}
          </Button>
          <span className="flex-1" />
          <Button large onClick={close}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" onClick={() => void update({ systemPrompt, sampling }).then(close)}>
            {t('chatSettings.save')}
          </Button>
        </>
      }
    >
      <label className="block" htmlFor="chat-instructions">
        <span className="font-medium">{t('chatSettings.instructions')}</span>
        <TextArea
          id="chat-instructions"
          value={systemPrompt}
          onChange={(event) => setSystemPrompt(event.target.value)}
          placeholder={t('chatSettings.instructionsHint')}
          className="mt-1.5 max-h-60 min-h-24"
          data-suggested
          dir="auto"
        />
      </label>
      <h3 className="mt-5 mb-1 font-medium">{t('settings.sampling')}</h3>
      <SamplingFields values={sampling} onChange={setSampling} />
    </Dialog>
  );
}
