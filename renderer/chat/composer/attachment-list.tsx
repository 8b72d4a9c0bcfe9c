import { type DragEvent, type KeyboardEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Attachment, AttachmentId } from '../../../app/protocol/index.ts';
import { isPicture } from '../pictures/picture.ts';
import { PictureTile } from '../pictures/thumbnail.tsx';
import { AttachmentChip } from './attachments.tsx';

const DRAGGED = 'application/x-longhand-attachment';

type ListProps = {
  attachments: readonly Attachment[];
  onMove: (id: AttachmentId, to: number) => void;
  onRemove: (attachment: Attachment) => void;
  /** What is still being read, or was refused. */
  children: ReactNode;
};

/** The files of a message that is being written, in the order in which the model sees them. Dragged, or moved by Alt and an arrow. */
export function AttachmentList({ attachments, onMove, onRemove, children }: ListProps) {
  const { t } = useTranslation();
  const [moved, setMoved] = useState<AttachmentId | null>(null);
  const [over, setOver] = useState<AttachmentId | null>(null);
  const place = attachments.findIndex(({ id }) => id === moved) + 1;
  const move = (id: AttachmentId, to: number) => {
    if (to < 0 || to >= attachments.length) return;
    setMoved(id);
    onMove(id, to);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>, id: AttachmentId, at: number) => {
    if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return;
    event.preventDefault();
    event.stopPropagation();
    const backwards = getComputedStyle(event.currentTarget).direction === 'rtl';
    move(id, at + ((event.key === 'ArrowLeft') !== backwards ? -1 : 1));
  };
  const onDrop = (event: DragEvent, at: number) => {
    const dragged = event.dataTransfer.getData(DRAGGED) as AttachmentId;
    setOver(null);
    if (dragged === '') return;
    event.preventDefault();
    move(dragged, at);
  };
  return (
    <>
      <ul className="flex flex-wrap gap-2 px-3 pt-3" aria-label={t('attachment.list')}>
        {attachments.map((attachment, at) => (
          <li
            key={attachment.id}
            draggable={attachments.length > 1}
            className={over === attachment.id ? 'rounded-lg ring-2 ring-focus' : ''}
            onKeyDown={(event) => onKeyDown(event, attachment.id, at)}
            onDragStart={(event) => event.dataTransfer.setData(DRAGGED, attachment.id)}
            onDragOver={(event) => {
              if (!event.dataTransfer.types.includes(DRAGGED)) return;
              event.preventDefault();
              setOver(attachment.id);
            }}
            onDragLeave={() => setOver(null)}
            onDrop={(event) => onDrop(event, at)}
          >
            {isPicture(attachment) ? (
              <PictureTile picture={attachment} onRemove={() => onRemove(attachment)} />
            ) : (
              <AttachmentChip attachment={attachment} onRemove={() => onRemove(attachment)} />
            )}
          </li>
        ))}
        {children}
      </ul>
      <p role="status" className="sr-only">
        {place > 0 && t('attachment.moved', { place, count: attachments.length })}
      </p>
    </>
  );
}
