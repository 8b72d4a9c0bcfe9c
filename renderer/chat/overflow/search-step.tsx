import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ChatId, type Failure, failureOf } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { sentenceOf } from '../../sentences.ts';
import { useChat } from '../../stores/chat/store.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import type { Full } from './overflow-options.ts';
import { searchInstead } from './search-instead.ts';

type SearchStepProps = {
  chatId: ChatId;
  full: Full;
  onStop: () => void;
  onOthers: () => void;
  /** `asks`: there is still a question to send. */
  onDone: (asks: boolean) => void;
};

/** A file that fits no context is searched without asking: shows that, its progress, and a stop button. */
export function SearchStep({ chatId, full, onStop, onOthers, onDone }: SearchStepProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [name] = useState(() => useChat.getState().attachments[chatId]?.[0]?.name ?? '');
  const [share, setShare] = useState(0);
  const [failure, setFailure] = useState<Failure | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: begun once; what follows is that of the first rendering
  useEffect(() => {
    const stop = new AbortController();
    searchInstead(chatId, { onProgress: setShare, signal: stop.signal }).then(
      (asks) => !stop.signal.aborted && onDone(asks),
      (error) => !stop.signal.aborted && setFailure(failureOf(error)),
    );
    return () => stop.abort();
  }, [chatId]);
  const tokens = formats.tokens(full.draft);
  return (
    <Dialog
      open
      onClose={onStop}
      title={t('overflow.tooLong', { name })}
      description={t('overflow.tooLongAbout', { tokens, limit: formats.contextSize(full.limit) })}
      width={560}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={onOthers}>
            {t('overflow.others')}
          </Button>
          <Button large onClick={onStop}>
            {t('cancel')}
          </Button>
        </>
      }
    >
      <p role="status" className="text-fg-2 tabular-nums">
        {failure === null ? t('overflow.reading', { share: formats.percent(share) }) : ''}
      </p>
      {failure === null ? (
        <div aria-hidden className="mt-2 h-1.25 overflow-hidden rounded-full bg-hover">
          <div className="h-full bg-ink" style={{ width: `${share * 100}%` }} />
        </div>
      ) : (
        <p role="alert" className="text-bad-text">
          {sentenceOf(failure)}
        </p>
      )}
    </Dialog>
  );
}
