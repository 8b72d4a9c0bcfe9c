import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { codeOfSystem, type DocumentKind, LonghandError } from '../../protocol/index.ts';
import { openRegular } from '../../store/folder/open-regular.ts';
import { isBelow } from './file-store.ts';
import { kindOf } from './file-types.ts';

/** A file that can be added. */
export type Gathered = { path: string; fileName: string; kind: DocumentKind; bytes: number; changedAt: number };

/** Of one folder; more is a mistake (a home folder, a disk). */
export const MAX_FILES = 20_000;

/** The file itself, or all files of a folder that are of a known kind. Hidden ones and links are left out.
 *  @throws LonghandError `not-found`, `permission`, `unreadable`, `too-large` */
export async function gather(path: string, name: string): Promise<Gathered[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new LonghandError(codeOfSystem(error) ?? 'permission', `[documents] ${name}: ${error.message}`);
  });
  if (found.isDirectory()) return (await gatherFolder(path)).files;
  if (!found.isFile()) throw new LonghandError('unreadable', `[documents] ${name} is neither a file nor a folder`);
  const kind = kindOf(name) ?? (await sniff(path));
  if (!kind) throw new LonghandError('unreadable', `[documents] ${name} is not a type of file that Longhand reads`);
  return [{ path, fileName: name, kind, bytes: found.size, changedAt: found.mtimeMs }];
}

/** Folders that programs fill, not people. */
const MADE = new Set(['node_modules', '__pycache__', 'venv', 'target', 'build', 'dist']);

/** `links`: names of files that lie elsewhere. What a link in the folder leads to in the same folder is found there; anything
 *  else was not chosen by the user, who may not even see that it is a link. */
export async function gatherFolder(folder: string): Promise<{ files: Gathered[]; links: string[] }> {
  const files: Gathered[] = [];
  const links: string[] = [];
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (at === folder)
        throw new LonghandError(codeOfSystem(error) ?? 'permission', `[documents] ${folder}: ${error.message}`);
      return []; // one of its folders is closed to us: the others are not
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(at, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) {
        if (!MADE.has(entry.name)) folders.push(path);
        continue;
      }
      const kind = kindOf(entry.name);
      const found = kind && (await lstat(path).catch(() => null));
      if (kind && found?.isSymbolicLink()) {
        if (!(await leadsBelow(path, folder))) links.push(entry.name);
        continue;
      }
      if (!kind || !found?.isFile()) continue;
      files.push({ path, fileName: entry.name, kind, bytes: found.size, changedAt: found.mtimeMs });
      if (files.length > MAX_FILES) {
        throw new LonghandError('too-large', `[documents] ${basename(folder)} has more than ${MAX_FILES} files`);
      }
    }
  }
  return { files, links };
}

async function leadsBelow(link: string, folder: string): Promise<boolean> {
  try {
    return isBelow(await realpath(link), await realpath(folder));
  } catch {
    return true; // it leads nowhere
  }
}

/** By its first bytes, for names that say nothing. */
async function sniff(path: string): Promise<DocumentKind | null> {
  const file = await openRegular(path).catch(() => null);
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    const head = buffer.subarray(0, bytesRead);
    const start = head.toString('latin1');
    if (start.includes('%PDF-')) return 'pdf';
    if (start.startsWith('\x89PNG') || start.startsWith('\xff\xd8\xff')) return 'image';
    if (/^\s*<(!doctype html|html)/i.test(start)) return 'html';
    // An ending that says something else than text is believed only where the bytes are text.
    return extname(path).length <= 5 && !head.includes(0) && bytesRead > 0 ? 'text' : null;
  } finally {
    await file.close();
  }
}
