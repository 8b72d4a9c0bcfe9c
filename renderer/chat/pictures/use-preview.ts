import { useEffect, useState } from 'react';
import type { AttachmentId } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';

/** Sizes in messages, and in the lightbox. */
export const SMALL = 320;
export const LARGE = 2048;

/** Cached addresses of small previews; a chat that is reopened has them at once. */
const known = new Map<AttachmentId, Promise<string>>();
const MOST = 200;

async function load(attachmentId: AttachmentId, edge: number): Promise<string> {
  const { webp } = await core.call('attachments.preview', { attachmentId, edge });
  return `data:image/webp;base64,${webp}`;
}

function small(id: AttachmentId): Promise<string> {
  const there = known.get(id);
  if (there) return there;
  const loading = load(id, SMALL);
  known.set(id, loading);
  loading.catch(() => known.delete(id));
  const [oldest] = known.keys();
  if (known.size > MOST && oldest !== undefined) known.delete(oldest);
  return loading;
}

/** Addresses of small previews; deleted pictures are left out. */
export async function addressesOf(ids: readonly AttachmentId[]): Promise<Map<AttachmentId, string>> {
  const found = await Promise.all(
    ids.map((id) =>
      small(id).then(
        (address) => [id, address] as const,
        () => null,
      ),
    ),
  );
  return new Map(found.filter((one) => one !== null));
}

export type Preview = { state: 'loading' } | { state: 'shown'; address: string } | { state: 'failed' };

/** The preview of a picture. */
export function usePreview(id: AttachmentId, edge: typeof SMALL | typeof LARGE): Preview {
  const [preview, setPreview] = useState<Preview>({ state: 'loading' });
  useEffect(() => {
    let wanted = true;
    const show = (next: Preview) => wanted && setPreview(next);
    (edge === SMALL ? small(id) : load(id, edge)).then(
      (address) => show({ state: 'shown', address }),
      () => show({ state: 'failed' }),
    );
    return () => {
      wanted = false;
    };
  }, [id, edge]);
  return preview;
}
