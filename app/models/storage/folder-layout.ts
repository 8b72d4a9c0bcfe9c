import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { DownloadRow } from '../../store/models/downloads.ts';
import { labelOf } from './quantisation-label.ts';

//  What the folder of a model is called in the library, and what the engine opens in it.

type Model = Pick<DownloadRow, 'repository' | 'commit' | 'files'>;

/** File systems allow 255 bytes, and `.new` comes behind it for a while. */
const MAX_NAME = 120;

/** `org--name@commit`, readable and free of anything a file system minds. Behind it the quantisation of a GGUF file; and what
 *  tells it from the others that would be called the same: a repository may hold several of one quantisation, and names that are
 *  long or full of signs are shortened. */
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

/** What the engine opens: the folder, or the (first) GGUF file in it. */
export function modelPath(folder: string, row: Pick<Model, 'files'>): string {
  const gguf = ggufOf(row);
  return gguf ? join(folder, gguf) : folder;
}
