import { mkdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { type ExternalModel, LonghandError } from '../../protocol/index.ts';
import { openRegular } from '../../store/folder/open-regular.ts';
import { removeLink } from '../storage/remove-link.ts';
import { findExternalModels, type UserFolders } from './scan.ts';

const FILE_MAGIC = 'GGUF';

/** Models of other programs on this computer. */
export async function listExternalModels(
  folders: UserFolders = { home: homedir(), env: process.env },
): Promise<ExternalModel[]> {
  const found: ExternalModel[] = [];
  for await (const one of findExternalModels(folders)) found.push(one);
  return found;
}

/** A path that the engine can open for a model of another program. Blob stores name files by hash: those get a
 *  named symbolic link of ours, which is all that a removal deletes.
 *  @throws LonghandError `unreadable` */
export async function linkOf(model: ExternalModel, links: string): Promise<string> {
  if (model.kind !== 'gguf' || model.path.toLowerCase().endsWith('.gguf')) return model.path;
  if ((await magicOf(model.path)) !== FILE_MAGIC) {
    throw new LonghandError('unreadable', `[link] ${model.path} does not start like a GGUF file`);
  }
  const name = model.name.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'model';
  const path = join(links, `${name}-${basename(model.path).slice(-8)}.gguf`);
  await mkdir(links, { recursive: true });
  await removeLink(path);
  await symlink(model.path, path);
  return path;
}

async function magicOf(path: string): Promise<string> {
  const file = await openRegular(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_MAGIC.length), 0, FILE_MAGIC.length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
