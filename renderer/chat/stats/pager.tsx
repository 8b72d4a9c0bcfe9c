import { useTranslation } from 'react-i18next';
import type { Message, MessageId } from '../../../app/protocol/index.ts';
import { isMac } from '../../bridge.ts';
import { shown } from '../../lib/keys.ts';
import { actions } from '../../stores/chat/store.ts';
import { IconButton } from '../../ui/button.tsx';

/** ‹2/3›: versions of one message. Nothing where there is only one. */
export function Pager({ message, versions }: { message: Message; versions: readonly MessageId[] }) {
  const { t } = useTranslation();
  const { show } = actions;
  if (versions.length < 2) return null;
  const at = versions.indexOf(message.id);
  const to = (index: number) => {
    const version = versions[index];
    if (version) void show(version);
  };
  return (
    <span className="inline-flex items-center text-xs text-fg-2 tabular-nums">
      <IconButton
        small
        icon="back"
        label={t('version.previous')}
        keys={shown('Alt+ArrowLeft', isMac())}
        data-version="previous"
        className="rtl:-scale-x-100"
        disabled={at <= 0}
        onClick={() => to(at - 1)}
      />
      <span role="img" aria-label={t('version.of', { at: at + 1, count: versions.length })}>
        {at + 1}/{versions.length}
      </span>
      <IconButton
        small
        icon="forward"
        label={t('version.next')}
        keys={shown('Alt+ArrowRight', isMac())}
        data-version="next"
        className="rtl:-scale-x-100"
        disabled={at >= versions.length - 1}
        onClick={() => to(at + 1)}
      />
    </span>
  );
}
