import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Download, failureOf } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Details } from '../../parts/problem.tsx';
import { sentenceOf, sentenceOfCode } from '../../sentences.ts';
import { useModels } from '../../stores/models/store.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Progress } from '../../ui/meter.tsx';

/** The list of downloads: running, waiting and why. */
export function DownloadList({ whole = false }: { whole?: boolean }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const downloads = useModels((state) => state.downloads);
  const running = downloads.find(({ status }) => status.phase === 'running')?.status;
  const rate = running?.phase === 'running' ? running.rate : null;
  if (downloads.length === 0 && !whole) return null;
  return (
    <section
      aria-label={t('models.downloads')}
      className={`px-5 ${whole ? 'min-h-0 flex-1 overflow-y-auto py-4' : 'max-h-60 flex-none overflow-y-auto border-t border-line bg-sunken py-3'}`}
    >
      <div className="flex items-baseline gap-2">
        <h2 className="font-semibold">{t('models.downloads')}</h2>
        <span className="text-fg-3 tabular-nums">{downloads.length}</span>
        {rate !== null && <span className="ms-auto text-xs text-fg-2 tabular-nums">{formats.rate(rate)}</span>}
      </div>
      {downloads.length === 0 ? (
        <p className="mt-2 text-fg-2">{t('models.noDownloads')}</p>
      ) : (
        <ul>
          {downloads.map((item, at) => (
            <Row key={item.id} item={item} first={at === 0} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ item, first }: { item: Download; first: boolean }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { status } = item;
  const downloadId = item.id;
  const [problem, setProblem] = useState<string | null>(null);
  const tell = (work: Promise<unknown>) => {
    setProblem(null);
    work.catch((error) => {
      const failure = failureOf(error);
      // Another window removed it, or has already decided.
      if (failure.code !== 'not-found' && failure.code !== 'conflict') setProblem(sentenceOf(failure));
    });
  };
  const share = item.total > 0 ? item.done / item.total : 0;
  const stands = status.phase === 'paused' || status.phase === 'failed' || status.phase === 'changed';
  const tone =
    status.phase === 'failed'
      ? 'bad'
      : /^(repairing|changed|waiting)/.test(status.phase)
        ? 'warn'
        : stands || status.phase === 'queued'
          ? 'edge'
          : 'ink';
  return (
    <li className="flex min-h-13 items-center gap-5 max-lg:flex-wrap max-lg:gap-y-1 max-lg:py-2">
      <span className="w-50 min-w-0 flex-none">
        <bdi className="block truncate font-semibold">{item.name}</bdi>
        <span className="block truncate text-xs text-fg-3 tabular-nums">
          {[item.variant, formats.fileSize(item.total)].filter(Boolean).join(', ')}
        </span>
      </span>
      <Progress label={item.name} share={share} tone={tone} className="h-1.5 min-w-20 flex-1" />
      <span
        className={`w-64 text-end text-xs wrap-anywhere tabular-nums ${status.phase === 'failed' ? 'text-bad-text' : 'text-fg-2'}`}
      >
        {sentence()}
        {problem && <span className="block text-bad-text">{problem}</span>}
        {status.phase === 'failed' && <Details text={status.message} />}
      </span>
      {status.phase === 'changed' && (
        <Button onClick={() => tell(core.call('downloads.update', { downloadId }))}>{t('models.renew')}</Button>
      )}
      <span className="flex flex-none">
        {first ? (
          <span className="size-hit" />
        ) : (
          <IconButton
            icon="up"
            label={t('models.sooner', { name: item.name })}
            onClick={() => tell(core.call('downloads.move', { downloadId, place: 0 }))}
          />
        )}
        <IconButton
          icon={stands ? 'play' : 'pause'}
          label={t(status.phase === 'changed' ? 'models.askOld' : stands ? 'models.resume' : 'models.pause', {
            name: item.name,
          })}
          onClick={() => tell(core.call(stands ? 'downloads.resume' : 'downloads.pause', { downloadId }))}
        />
        <IconButton
          icon="close"
          label={t('models.cancel', { name: item.name })}
          onClick={() => tell(core.call('downloads.cancel', { downloadId }))}
        />
      </span>
    </li>
  );

  function sentence(): string {
    const bytes = { done: formats.fileSize(item.done), total: formats.fileSize(item.total) };
    switch (status.phase) {
      case 'queued':
        return t('models.status.queued');
      case 'running':
        return status.secondsLeft === null
          ? t('models.of', bytes)
          : t('models.ofLeft', { ...bytes, time: formats.duration(status.secondsLeft * 1000) });
      case 'paused':
        return t('models.status.paused', { done: formats.fileSize(item.done) });
      case 'waitingForNetwork':
        return t('models.status.waitingForNetwork');
      case 'waitingForSpace':
        return t('models.status.waitingForSpace', { size: formats.fileSize(status.missing) });
      case 'waitingForLibrary':
        return t(`models.status.library.${status.reason}`);
      case 'changed':
        return t('models.status.changed', { size: formats.fileSize(item.done) });
      case 'checking':
        return t('models.status.checking');
      case 'repairing':
        return t('models.status.repairing', { size: formats.fileSize(status.damaged) });
      case 'failed':
        return sentenceOfCode(status.code);
    }
  }
}
