import { useTranslation } from 'react-i18next';
import type { Notice } from '../../app/protocol/index.ts';
import { useEngine } from '../stores/engine.ts';
import { useNotices } from '../stores/notices.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

/** Defaults for values missing from a notice. */
const unnamed = { address: '', damaged: '', reason: '' };

const isGood = (code: Notice['code']) => code === 'saved-again';

export function Notices() {
  const { t } = useTranslation();
  const { said, closed } = useNotices();
  const atStart = useEngine((state) => state.info?.notices) ?? [];
  const shown = [...atStart, ...said].filter(
    ({ code }, index, all) => !closed.has(code) && all.findLastIndex((other) => other.code === code) === index,
  );
  return shown.map(({ code, details }) => (
    <div
      key={code}
      role={isGood(code) ? 'status' : 'alert'}
      className={`flex flex-none items-center gap-2 border-b px-5 py-2 ${isGood(code) ? 'border-line bg-ok-soft' : 'border-warn-line bg-warn-soft'}`}
    >
      {isGood(code) ? (
        <Icon name="check" className="text-ok-text" />
      ) : (
        <Icon name="warning" className="text-warn-text" />
      )}
      <span className="min-w-0 flex-1 wrap-anywhere">{t(`notices.${code}`, { ...unnamed, ...details })}</span>
      <IconButton
        small
        icon="close"
        label={t('close')}
        onClick={() => useNotices.setState((state) => ({ closed: new Set([...state.closed, code]) }))}
      />
    </div>
  ));
}
