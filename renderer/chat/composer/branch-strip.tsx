import { useTranslation } from 'react-i18next';
import { actions, useChat } from '../../stores/chat/store.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Says that the next message begins a new branch, until it is sent or the branch is cancelled. */
export function BranchStrip() {
  const { t } = useTranslation();
  const branching = useChat((state) => state.branchFrom !== null);
  const { setBranchFrom } = actions;
  if (!branching) return null;
  return (
    <div
      role="status"
      className="mx-3.5 -mb-px flex h-8.5 items-center gap-2 rounded-t-lg bg-sunken ps-3 pe-1.5 text-fg-2 hairline-soft"
    >
      <Icon name="branch" size={14} />
      <span className="min-w-0 flex-1 truncate">{t('branch.begins')}</span>
      <IconButton small icon="close" label={t('branch.cancel')} onClick={() => setBranchFrom(null)} />
    </div>
  );
}
