import { useTranslation } from 'react-i18next';
import type { ChatId, Failure } from '../../../../app/protocol/index.ts';
import { sentenceOf } from '../../../sentences.ts';
import { actions } from '../../../stores/chat/store.ts';
import { Button } from '../../../ui/button.tsx';

/** Replaces a chat that could not be read. There is no composer: its draft was not read either. */
export function UnopenedChat({ chatId, failure }: { chatId: ChatId; failure: Failure }) {
  const { t } = useTranslation();
  return (
    <div className="flex min-h-0 flex-1 flex-col items-center justify-center px-6 pb-[12vh] text-center">
      <div role="alert">
        <h1 className="text-lg font-semibold tracking-tight">{t('unopened.title')}</h1>
        <p className="mt-2 max-w-104 text-fg-2">{sentenceOf(failure)}</p>
      </div>
      <Button large kind="primary" className="mt-5" onClick={() => void actions.choose(chatId)}>
        {t('unopened.again')}
      </Button>
    </div>
  );
}
