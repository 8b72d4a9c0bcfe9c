import { useTranslation } from 'react-i18next';
import { type Failure, type Message, RemoteEngineId } from '../../../app/protocol/index.ts';
import { wayOf } from '../../sentences.ts';
import { actions } from '../../stores/chat/store.ts';
import { useEngine } from '../../stores/engine.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';

/** Replaces an answer whose passages would leave this computer: asks whether they may, in this chat. */
export function PassagesNotice({ message, failure }: { message: Message; failure: Failure }) {
  const { t } = useTranslation();
  const engineId = RemoteEngineId.safeParse(failure.details?.engineId).data ?? null;
  const models = useEngine((state) => state.models);
  const engine = models.find(({ remote }) => remote?.engineId === engineId)?.remote ?? null;
  const { retry, update } = actions;
  const allow = async () => {
    await update({ passagesTo: engineId });
    await retry(message.id);
  };
  return (
    <div className="mt-4">
      <Notice
        alert
        tone="warn"
        title={t('remoteEngines.passagesTitle')}
        actions={
          <>
            <Button kind="primary" onClick={() => void retry(message.id, 'without')}>
              {t('sources.answerWithout')}
            </Button>
            {engine && <Button onClick={() => void allow()}>{t('remoteEngines.allowPassages')}</Button>}
          </>
        }
      >
        {engine ? t('remoteEngines.passagesAbout', { host: engine.host }) : wayOf(failure)}
      </Notice>
    </div>
  );
}
