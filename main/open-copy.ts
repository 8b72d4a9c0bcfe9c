import { rm, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { shell } from 'electron';
import { temporaryFolder } from '../app/store/folder/temporary-folders.ts';

/** Types that viewers only display. A file that the system would execute, or a page with scripts, is never opened. */
const SHOWN = new Set(
  '.pdf .docx .xlsx .pptx .epub .txt .md .csv .json .eml .png .jpg .jpeg .gif .webp .bmp .tif .tiff'.split(' '),
);

const folders = new Set<string>();

/** Opens a copy of a document in the system's viewer: edits there do not reach Longhand's own copy. False if the type is not
 *  allowed, or no program opens it. */
export async function openCopy(given: string, bytes: Uint8Array): Promise<boolean> {
  const name = basename(given.replaceAll('\\', '/'));
  if (!SHOWN.has(extname(name).toLowerCase())) return false;
  const path = join(copyFolder(), name);
  await writeFile(path, bytes, { mode: 0o600 });
  return (await shell.openPath(path)) === '';
}

/** A folder for one file, removed when the app exits. */
export function copyFolder(): string {
  const folder = temporaryFolder('opened');
  folders.add(folder);
  return folder;
}

/** Removes opened copies when the app exits; after a kill, the next start does (temporary.ts). */
export async function removeCopies(): Promise<void> {
  await Promise.all([...folders].map((folder) => rm(folder, { recursive: true, force: true })));
  folders.clear();
}
