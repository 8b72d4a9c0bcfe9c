import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LonghandError } from '../protocol/errors.ts';
import { temporaryFolder } from '../store/folder/temporary-folders.ts';
import type { Measured } from './decode.ts';

//  HEIC, the photo format of phones: HEVC in a HEIF file. libvips cannot ship its decoder, but every Mac has one, which
//  the system tool `sips` exposes.

export const SIPS = '/usr/bin/sips';
const BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx']);
const TIME_MS = 20_000;
/** Longer sides are downscaled to this: no checkpoint uses more pixels. */
const LONGEST = 4096;

/** Checks the brands in the first box: the major brand, then the compatible ones. */
export function isHeic(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256));
  if (head.length < 16 || head.toString('latin1', 4, 8) !== 'ftyp') return false;
  const end = Math.min(head.length, head.readUInt32BE(0));
  const brands = [8, ...Array.from({ length: Math.max(0, (end - 16) >> 2) }, (_, at) => 16 + 4 * at)];
  return brands.some((at) => BRANDS.has(head.toString('latin1', at, at + 4)));
}

/** @throws LonghandError `unreadable` if nothing here can decode it */
export function demandSips(sips: string): void {
  if (existsSync(sips)) return;
  throw new LonghandError('unreadable', '[pictures] a HEIC picture, which only macOS decodes', {
    details: { reason: 'heic' },
  });
}

/** The same picture as lossless TIFF.
 *  @throws LonghandError `unreadable` */
export async function tiffOfHeic(bytes: Uint8Array, { width, height }: Measured, sips: string): Promise<Uint8Array> {
  demandSips(sips);
  const folder = temporaryFolder('copy');
  const [from, to] = [join(folder, 'picture.heic'), join(folder, 'picture.tiff')];
  try {
    await writeFile(from, bytes, { mode: 0o600 });
    const shrunk = Math.max(width, height) > LONGEST ? ['-Z', String(LONGEST)] : [];
    await promisify(execFile)(sips, ['-s', 'format', 'tiff', ...shrunk, from, '--out', to], {
      timeout: TIME_MS,
      killSignal: 'SIGKILL',
    });
    return await readFile(to);
  } catch (error) {
    const why = (error as { killed?: boolean }).killed ? `took more than ${TIME_MS / 1000} s` : 'was not converted';
    throw new LonghandError('unreadable', `[pictures] the HEIC picture ${why}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
