import { useTranslation } from 'react-i18next';
import type { Failure, Message } from '../../../../app/protocol/index.ts';
import { useFormats } from '../../../i18n.ts';
import { wayOf, whatOf } from '../../../sentences.ts';
import { actions } from '../../../stores/chat/store.ts';
import { useEngine } from '../../../stores/engine.ts';
import { useUnsaved } from '../../../stores/notices.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { RecoveryMenu } from '../../overflow/recovery-menu.tsx';

/** Below a partial answer: what happened, what is safe, what to do. Error codes are behind "Show report". */
export function FailureNotice({ message, failure }: { message: Message; failure: Failure }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { resume, retry, setOverlay } = actions;
  const status = useEngine((state) => state.status.phase);
  const tokens = (message.usage?.answerTokens ?? 0) + (message.usage?.thinkingTokens ?? 0);
  const hasContent = message.text !== '' || message.thinking !== '' || message.toolUses.length > 0;
  const unsaved = useUnsaved();
  const safe =
    unsaved && hasContent
      ? t('failure.unsaved')
      : !hasContent
        ? t('failure.nothingWritten')
        : tokens > 0
          ? t('failure.tokensKept', { count: tokens, tokens: formats.exact(tokens) })
          : t('failure.textKept');
  const engine =
    failure.code !== 'engine-lost'
      ? ''
      : status === 'ready' || status === 'idle' || status === 'busy'
        ? t('failure.engineBack')
        : t('failure.engineComing');
  const canResume = failure.code !== 'engine-lost' || status !== 'stopped';
  return (
    <div className="mt-4">
      <Notice
        alert
        tone="bad"
        title={failure.code === 'engine-lost' && hasContent ? t('failure.engineStopped') : whatOf(failure)}
        actions={
          <>
            {hasContent && (
              <Button
                kind="primary"
                disabled={!canResume || status === 'restarting'}
                onClick={() => void resume(message.id)}
              >
                {t('failure.resume')}
              </Button>
            )}
            <Button kind={hasContent ? 'quiet' : 'primary'} onClick={() => void retry(message.id)}>
              {hasContent ? t('failure.startOver') : t('failure.tryAgain')}
            </Button>
            <RecoveryMenu failure={failure} resumes={message.id} />
            <Button kind="quiet" className="ms-auto" onClick={() => setOverlay({ kind: 'report', failure })}>
              {t('failure.report')}
            </Button>
          </>
        }
      >
        {[wayOf(failure), safe, engine].filter(Boolean).join(' ')}
      </Notice>
    </div>
  );
}
