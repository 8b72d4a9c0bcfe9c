import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { IconButton } from '../../ui/button.tsx';
import type { Picture } from './picture.ts';
import { LARGE, usePreview } from './use-preview.ts';

/** A picture fitted to the window; a click shows it at full size. Esc closes it. */
export function Lightbox({ picture, onClose }: { picture: Picture; onClose: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [whole, setWhole] = useState(true);
  const preview = usePreview(picture.id, LARGE);
  const { width, height } = picture.picture;
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-4 z-30 flex flex-col overflow-hidden rounded-xl bg-raised shadow-3 outline-none data-[state=open]:animate-enter"
        >
          <div className="flex h-12 flex-none items-center gap-3 ps-5 pe-3">
            <Dialog.Title className="min-w-0 flex-1 truncate font-semibold">{picture.name}</Dialog.Title>
            <span className="flex-none text-fg-3 tabular-nums">
              {t('pictures.size', { width: formats.exact(width), height: formats.exact(height) })}
            </span>
            <IconButton icon="close" label={t('close')} onClick={onClose} />
          </div>
          <div className="min-h-0 flex-1 overflow-auto bg-sunken">
            {preview.state === 'failed' && <p className="p-6 text-fg-2">{t('pictures.missing')}</p>}
            {preview.state === 'shown' && (
              <button
                type="button"
                aria-label={t(whole ? 'pictures.actualSize' : 'pictures.fit')}
                onClick={() => setWhole(!whole)}
                className={whole ? 'size-full cursor-zoom-in' : 'cursor-zoom-out'}
              >
                <img
                  src={preview.address}
                  alt={picture.name}
                  draggable={false}
                  className={whole ? 'size-full object-contain' : 'max-w-none'}
                />
              </button>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
