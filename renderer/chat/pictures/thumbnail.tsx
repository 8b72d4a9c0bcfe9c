import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Lightbox } from './lightbox.tsx';
import type { Picture } from './picture.ts';
import { SMALL, usePreview } from './use-preview.ts';

/** Maximum height in a message, in pixels; less if the picture is smaller or would be too wide. */
const HEIGHT = 224;
const WIDTH = 360;

/** A picture of a message that was sent. A click shows it large. */
export function Thumbnail({ picture }: { picture: Picture }) {
  const { t } = useTranslation();
  const [large, setLarge] = useState(false);
  const { width, height } = picture.picture;
  const scale = Math.min(1, HEIGHT / height, WIDTH / width);
  return (
    <>
      <button
        type="button"
        aria-label={t('pictures.enlarge', { name: picture.name })}
        onClick={() => setLarge(true)}
        style={{ width: Math.max(48, Math.round(width * scale)), height: Math.max(48, Math.round(height * scale)) }}
        className="max-w-full cursor-zoom-in overflow-hidden rounded-lg bg-sunken hairline-soft"
      >
        <Seen picture={picture} />
      </button>
      {large && <Lightbox picture={picture} onClose={() => setLarge(false)} />}
    </>
  );
}

/** A picture in the composer: a preview, its tokens, and a remove button. */
export function PictureTile({ picture, onRemove }: { picture: Picture; onRemove: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [large, setLarge] = useState(false);
  const { name, tokens, bytes } = picture;
  const about =
    tokens === null ? formats.fileSize(bytes) : t('tokens', { count: tokens, tokens: formats.exact(tokens) });
  return (
    <span className="inline-flex h-16 max-w-65 items-center gap-2.5 rounded-lg bg-raised ps-1.5 pe-2 hairline">
      <button
        type="button"
        aria-label={t('pictures.enlarge', { name })}
        onClick={() => setLarge(true)}
        className="size-13 flex-none cursor-zoom-in overflow-hidden rounded-sm bg-sunken"
      >
        <Seen picture={picture} />
      </button>
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-medium">{name}</span>
        <span className="truncate text-xs text-fg-3 tabular-nums">{about}</span>
      </span>
      <IconButton small icon="close" label={t('attachment.remove', { name })} onClick={onRemove} />
      {large && <Lightbox picture={picture} onClose={() => setLarge(false)} />}
    </span>
  );
}

function Seen({ picture }: { picture: Picture }) {
  const { t } = useTranslation();
  const preview = usePreview(picture.id, SMALL);
  if (preview.state === 'loading') return null;
  if (preview.state === 'failed')
    return (
      <span role="img" aria-label={t('pictures.missing')} className="grid size-full place-items-center text-fg-3">
        <Icon name="warning" />
      </span>
    );
  return <img src={preview.address} alt={picture.name} className="size-full object-cover" draggable={false} />;
}
