import { useTranslation } from 'react-i18next';
import { useConnection } from '../bridge.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

/** Above the page, in a tab older than the core: its content stays readable, but it can make no more requests. */
export function Outdated() {
  const { t } = useTranslation();
  const outdated = useConnection((state) => state.status === 'outdated');
  if (!outdated) return null;
  return (
    <div role="alert" className="flex flex-none items-center gap-2 border-b border-warn-line bg-warn-soft px-5 py-2">
      <Icon name="warning" className="text-warn-text" />
      <span className="min-w-0 flex-1 wrap-anywhere">{t('outdated.why')}</span>
      <Button kind="primary" onClick={() => window.location.reload()}>
        {t('outdated.reload')}
      </Button>
    </div>
  );
}
