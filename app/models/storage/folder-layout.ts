import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { DownloadRow } from '../../store/models/downloads.ts';
import { labelOf } from './quantisation-label.ts';

//  Names of model folders in the library, and the path in them that the engine opens.

type Model = Pick<DownloadRow, 'repository' | 'commit' | 'files'>;

/** File systems allow 255 bytes, and `.new` is appended temporarily. */
const MAX_NAME = 120;

/** `org--name@commit`, readable and safe for all file systems. Followed by the quantisation of a GGUF file, and by a hash
 *  if names would collide: a repository may have several files of one quantisation, and names that are
 *  long or contain special characters are shortened. */
export function folderName({ repository, commit, files }: Model): string {
  const gguf = ggufOf({ files });
  const plain = `${repository.replace(/^https?:\/\//, '').replaceAll('/', '--')}@${commit.slice(0, 12)}`;
  const allowed = plain.replace(/[^\w.@-]/g, '_').slice(-MAX_NAME);
  const label =
    gguf === undefined
      ? ''
      : `-${labelOf(gguf)
          .replace(/[^\w.-]/g, '_')
          .slice(0, MAX_NAME / 4)}`;
  const changed = allowed === plain ? '' : `${repository}\n${commit}`;
  const apart = `${changed}\n${gguf ?? ''}`.trim();
  return apart === '' ? allowed : `${allowed}${label}-${createHash('sha256').update(apart).digest('hex').slice(0, 8)}`;
}

export const ggufOf = (row: Pick<Model, 'files'>): string | undefined =>
  row.files.find((file) => file.name.endsWith('.gguf'))?.name;

/** The path that the engine opens: the folder, or the (first) GGUF file in it. */
export function modelPath(folder: string, row: Pick<Model, 'files'>): string {
  const gguf = ggufOf(row);
  return gguf ? join(folder, gguf) : folder;
}
