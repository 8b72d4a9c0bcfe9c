import { rm, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { shell } from 'electron';
import { temporaryFolder } from '../app/store/folder/temporary-folders.ts';

/** What a viewer only shows. A file that a system would run, or a page whose scripts would run, is not opened. */
const SHOWN = new Set(
  '.pdf .docx .xlsx .pptx .epub .txt .md .csv .json .eml .png .jpg .jpeg .gif .webp .bmp .tif .tiff'.split(' '),
);

const folders = new Set<string>();

/** Opens a copy of a document in the system's viewer: what is changed there does not reach Longhand's own. False for
 *  files of a kind that is not opened, or that no program opens. */
export async function openCopy(given: string, bytes: Uint8Array): Promise<boolean> {
  const name = basename(given.replaceAll('\\', '/'));
  if (!SHOWN.has(extname(name).toLowerCase())) return false;
  const path = join(copyFolder(), name);
  await writeFile(path, bytes, { mode: 0o600 });
  return (await shell.openPath(path)) === '';
}

/** A folder for one file, which goes with the app. */
export function copyFolder(): string {
  const folder = temporaryFolder('opened');
  folders.add(folder);
  return folder;
}

/** Copies that were opened go with the app; of an app that was killed, with the next start (temporary.ts). */
export async function removeCopies(): Promise<void> {
  await Promise.all([...folders].map((folder) => rm(folder, { recursive: true, force: true })));
  folders.clear();
}
