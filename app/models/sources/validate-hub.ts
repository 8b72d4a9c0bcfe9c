import { DownloadError } from '../network/download-error.ts';
import { safePath } from '../storage/safe-path.ts';
import type { FileEntry } from './source.ts';

//  Validation of untrusted metadata from hubs.

/** The largest repositories have a few thousand. */
const MAX_FILES = 20_000;

/** Validates a file entry. @throws DownloadError `wrong-content`, `bad-name` */
export function toldFile(told: { path: unknown; size: unknown; sha256: unknown }): FileEntry {
  if (typeof told.path !== 'string') throw wrong('a file without a name', told.path, 'texts');
  const name = safePath(told.path);
  const { size, sha256 } = told;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw wrong(`the size of ${name}`, size, 'whole numbers from 0');
  }
  const hash = sha256 === undefined || sha256 === null || sha256 === '' ? null : sha256;
  if (hash !== null && (typeof hash !== 'string' || !/^[0-9a-f]{64}$/i.test(hash))) {
    throw wrong(`the SHA-256 of ${name}`, hash, '64 hexadecimal digits');
  }
  return { name, size, sha256: hash === null ? null : hash.toLowerCase(), etag: null };
}

/** Validates a commit name, which becomes part of URLs. @throws DownloadError `wrong-content` */
export function toldCommit(told: unknown): string {
  if (typeof told === 'string' && /^[\w.-]{1,200}$/.test(told) && !told.includes('..')) return told;
  throw wrong('the commit', told, 'letters and digits');
}

/** @throws DownloadError `wrong-content` */
export function demandFewFiles(files: readonly unknown[]): void {
  if (files.length > MAX_FILES) throw wrong('the number of files', files.length, `up to ${MAX_FILES}`);
}

/** A number, or null for anything else. */
export const toldNumber = (told: unknown): number | null =>
  typeof told === 'number' && Number.isFinite(told) && told >= 0 ? told : null;

/** A valid repository name, or null for anything else. */
export const toldName = (told: unknown): string | null =>
  typeof told === 'string' && /^[\w.-]{1,120}(\/[\w.-]{1,120})?$/.test(told) && !told.includes('..') ? told : null;

const wrong = (what: string, came: unknown, allowed: string) =>
  new DownloadError(
    'wrong-content',
    `[hub] ${what}: got ${(JSON.stringify(came) ?? 'nothing').slice(0, 100)}, expected ${allowed}`,
  );
