import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileStore } from '../documents/import/file-store.ts';
import type { PictureUrl } from '../engine/remote/chat-body.ts';
import { createPictureDecoder, type PictureDecoder } from '../pictures/picture-decoder.ts';
import type { Size } from '../pictures/preprocessor.ts';
import { picturesInUse } from '../store/chats/attachments.ts';
import type { Database } from '../store/database/database.ts';
import { temporaryFolder } from '../store/folder/temporary-folders.ts';

//  pictures/<sha256>.<extension>   every picture of the chats, stored once by its content

export type PictureStore = Pick<PictureDecoder, 'measure'> & {
  /** Stores a copy. @throws LonghandError `unreadable`, `too-large`, `disk-full`, `not-found` */
  add(path: string, name: string): Promise<Size & { stored: string; bytes: number }>;
  /** The same for a picture in memory. */
  keep(bytes: Uint8Array, name: string): Promise<Size & { stored: string; bytes: number }>;
  pathOf(stored: string): string;
  /** A preview as WebP. @throws LonghandError `unreadable`, `not-found` */
  preview(stored: string, edge: number): Promise<Uint8Array>;
  /** What is sent to a remote engine: a copy without the metadata about where and when it was taken.
   *  @throws LonghandError `unreadable`, `not-found` */
  urlOf: PictureUrl;
  /** Removes pictures that no attachment refers to any more. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** Pixels a side beyond which common models downscale their input. */
const SENT_EDGE = 1568;

export function createPictureStore(db: Database, options: { folder: string; worker: string }): PictureStore {
  const files = createFileStore(options.folder);
  const decoder = createPictureDecoder({ worker: options.worker });
  async function add(path: string, name: string) {
    // Pictures that cannot be decoded are not stored.
    await decoder.measure({ path });
    const { storedName: stored, bytes } = await files.take(path, name);
    const { width, height } = await decoder.measure({ path: files.pathOf(stored) });
    return { stored, bytes, width, height };
  }
  return {
    add,
    async keep(bytes, name) {
      const folder = temporaryFolder('copy');
      try {
        const path = join(folder, 'picture');
        await writeFile(path, bytes, { mode: 0o600 });
        return await add(path, name);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    measure: decoder.measure,
    pathOf: files.pathOf,
    preview: (stored, edge) => decoder.preview({ path: files.pathOf(stored) }, edge),
    urlOf: async ({ source }) =>
      `data:image/jpeg;base64,${Buffer.from(await decoder.copy(source, SENT_EDGE)).toString('base64')}`,
    sweep: () => files.keepOnly(picturesInUse(db)),
    close: decoder.close,
  };
}

/** Decided by the first bytes of a file, not by its name. */
export function isPicture(head: Uint8Array): boolean {
  const text = Buffer.from(head.subarray(0, 16)).toString('latin1');
  return (
    text.startsWith('\x89PNG\r\n\x1a\n') ||
    text.startsWith('\xff\xd8\xff') ||
    /^GIF8[79]a/.test(text) ||
    (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') ||
    text.startsWith('II*\0') ||
    text.startsWith('MM\0*') ||
    /^....ftyp(?:avi[fs]|hei[cfx]|mif1)/s.test(text)
  );
}
