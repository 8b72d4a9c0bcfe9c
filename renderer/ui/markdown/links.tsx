import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { create } from 'zustand';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { Dialog } from '../overlays/dialog.tsx';

/** The address of a clicked link. Nothing is opened before the user confirms. */
export const useAskedLink = create<{ address: string | null; ask(address: string | null): void }>()((set) => ({
  address: null,
  ask: (address) => set({ address }),
}));

/** `asked`: whether `open` asks itself, as the desktop shell does. */
export function LinkQuestion({ open, asked }: { open: (address: string) => void; asked: boolean }) {
  const { t } = useTranslation();
  const { address, ask } = useAskedLink();
  useEffect(() => {
    if (!asked || address === null) return;
    open(address);
    ask(null);
  }, [asked, address, open, ask]);
  if (asked) return null;
  return (
    <Dialog
      open={address !== null}
      onClose={() => ask(null)}
      title={t('link.title')}
      description={t('link.about')}
      footer={
        <>
          <CopyButton text={address ?? ''} label={t('link.copy')} />
          <span className="flex-1" />
          <Button large onClick={() => ask(null)} data-suggested>
            {t('cancel')}
          </Button>
          <Button
            large
            kind="primary"
            onClick={() => {
              if (address) open(address);
              ask(null);
            }}
          >
            {t('link.open')}
          </Button>
        </>
      }
    >
      <p
        className="max-h-40 overflow-y-auto rounded-md bg-sunken px-3 py-2 font-mono text-xs wrap-anywhere hairline-soft"
        dir="ltr"
      >
        {address}
      </p>
    </Dialog>
  );
}
