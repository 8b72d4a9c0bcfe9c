import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LonghandError } from '../../../protocol/index.ts';
import { bytes } from '../../runtime/terminal.ts';

/** @throws LonghandError `disk-full` before anything is written */
export async function checkRoom(out: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(out));
  if (bavail * bsize > needed) return;
  throw new LonghandError(
    'disk-full',
    `[--out] the disk of ${out} has ${bytes(bavail * bsize)} free, but ${bytes(needed)} are needed`,
  );
}
