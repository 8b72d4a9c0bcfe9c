import { useTranslation } from 'react-i18next';
import type { LibraryMove } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { sentenceOf } from '../sentences.ts';
import { useModels } from '../stores/models/store.ts';
import { Button } from '../ui/button.tsx';
import { Progress } from '../ui/meter.tsx';
import { Notice } from '../ui/notice.tsx';

/** Shown when the library is unavailable: its drive is unmounted, or it is being moved. */
export function LibraryState() {
  const { t } = useTranslation();
  const library = useModels((state) => state.library);
  if (library?.move) return <Moving move={library.move} />;
  if (!library?.unmounted) return null;
  return (
    <Notice tone="warn" title={t('library.unmounted')}>
      <span dir="ltr">{library.folder}</span>. {t('library.unmountedAbout')}
    </Notice>
  );
}

function Moving({ move }: { move: LibraryMove }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { status, from, to, done, total } = move;
  const share = status.phase === 'clearing' || status.phase === 'clearingLater' ? 1 : total > 0 ? done / total : 0;
  const stands = status.phase === 'paused' || status.phase === 'stopped';
  const copies = stands || status.phase === 'copying';
  return (
    <section aria-label={t('library.moving')} className="rounded-lg bg-card px-4 py-3 shadow-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="min-w-0 flex-1 font-medium">{t('library.moving')}</span>
        {stands && <Button onClick={() => void core.call('library.resume')}>{t('library.resume')}</Button>}
        {status.phase === 'copying' && (
          <Button onClick={() => void core.call('library.pause')}>{t('library.pause')}</Button>
        )}
        {copies && <Button onClick={() => void core.call('library.cancel')}>{t('cancel')}</Button>}
        {status.phase === 'clearingLater' && (
          <Button onClick={() => void core.call('library.cancel')}>{t('library.leave')}</Button>
        )}
      </div>
      <Progress
        label={t('library.moving')}
        share={share}
        tone={status.phase === 'stopped' ? 'bad' : stands ? 'edge' : 'ink'}
      />
      <p
        role="status"
        className={`text-xs wrap-anywhere tabular-nums ${status.phase === 'stopped' ? 'text-bad-text' : 'text-fg-2'}`}
      >
        {sentence()}
      </p>
    </section>
  );

  function sentence(): string {
    const of = t('models.of', { done: formats.fileSize(done), total: formats.fileSize(total) });
    switch (status.phase) {
      case 'copying':
        return t('library.phase.copying', { of, folder: to });
      case 'paused':
        return t('library.phase.paused', { of });
      case 'stopped':
        return t('library.phase.stopped', { reason: sentenceOf(status.failure) });
      case 'switching':
        return t('library.phase.switching');
      case 'clearing':
        return t('library.phase.clearing', { folder: from });
      case 'clearingLater':
        return t('library.phase.clearingLater', { folder: from });
    }
  }
}
