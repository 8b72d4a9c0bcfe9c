import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type MessageId } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { sentenceOf } from '../../sentences.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

type SummaryStepProps = { messageId: MessageId; onStop: () => void; onUse: (summary: string) => Promise<void> };

type Step =
  | { status: 'writing' }
  | { status: 'written' }
  | { status: 'using' }
  | { status: 'failed'; failure: Failure };

/** The model writes a summary, the user reviews it, and only then does it replace the messages it summarises. */
export function SummaryStep({ messageId, onStop, onUse }: SummaryStepProps) {
  const { t } = useTranslation();
  const [step, setStep] = useState<Step>({ status: 'writing' });
  const [text, setText] = useState('');

  useEffect(() => {
    let gone = false;
    const silence = core.on('context.summary', (summary) => {
      if (summary.messageId === messageId && !gone) setText(summary.text);
    });
    core.call('context.summarise', { messageId }).then(
      (summary) => {
        if (gone) return;
        setText(summary.text);
        setStep({ status: 'written' });
      },
      (error) => !gone && setStep({ status: 'failed', failure: failureOf(error) }),
    );
    return () => {
      gone = true;
      silence();
      void core.call('context.stopSummary', { messageId }).catch(() => {});
    };
  }, [messageId]);

  const use = async () => {
    setStep({ status: 'using' });
    await onUse(text.trim()).catch((error) => setStep({ status: 'failed', failure: failureOf(error) }));
  };
  const writing = step.status === 'writing';
  return (
    <Dialog
      open
      onClose={onStop}
      title={t('summary.title')}
      description={writing ? t('summary.writing') : t('summary.read')}
      width={560}
      footer={
        <>
          <span className="text-xs text-fg-3">{t('summary.safe')}</span>
          <span className="flex-1" />
          <Button large onClick={onStop}>
            {writing ? t('summary.stop') : t('summary.back')}
          </Button>
          <Button
            large
            kind="primary"
            data-suggested
            disabled={step.status !== 'written' || text.trim() === ''}
            onClick={() => void use()}
          >
            {t('summary.use')}
          </Button>
        </>
      }
    >
      <textarea
        aria-label={t('summary.title')}
        aria-busy={writing}
        readOnly={writing}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="block h-60 w-full resize-none rounded-md bg-sunken px-3.5 py-2.5 leading-[1.4375rem] hairline"
      />
      {step.status === 'failed' && (
        <p role="alert" className="mt-3 text-bad-text">
          {sentenceOf(step.failure)}
        </p>
      )}
    </Dialog>
  );
}
