import { useTranslation } from 'react-i18next';
import type { Failure } from '../../../../app/protocol/index.ts';
import { actions, useChat } from '../../../stores/chat/store.ts';
import { appLine } from '../../../stores/engine.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';

/** The text of a bug report. Nothing is sent anywhere. */
export function ErrorReport() {
  const { t } = useTranslation();
  const overlay = useChat((state) => state.overlay);
  const { setOverlay } = actions;
  const close = () => setOverlay({ kind: 'none' });
  const text = overlay.kind === 'report' ? reportText(overlay.failure, appLine()) : '';
  return (
    <Dialog
      open={overlay.kind === 'report'}
      onClose={close}
      title={t('report.title')}
      description={t('report.about')}
      width={560}
      footer={
        <>
          <CopyButton text={text} label={t('report.copy')} />
          <span className="flex-1" />
          <Button large kind="primary" data-suggested onClick={close}>
            {t('close')}
          </Button>
        </>
      }
    >
      <pre className="max-h-80 overflow-auto rounded-md bg-code p-3 font-mono text-xs whitespace-pre-wrap text-fg-2 hairline-soft wrap-anywhere">
        {text}
      </pre>
    </Dialog>
  );
}

export function reportText(failure: Failure, app: string): string {
  const details = failure.details ? JSON.stringify(failure.details, null, 2) : '';
  return [app, `${failure.code}: ${failure.message}`, failure.hint ?? '', details]
    .filter((line) => line.trim() !== '')
    .join('\n');
}
