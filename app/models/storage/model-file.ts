import { createHash } from 'node:crypto';
import { mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { LonghandError } from '../../protocol/index.ts';
import { fileFailure, openRegular } from '../../store/folder/open-regular.ts';
import { removeLink } from './remove-link.ts';

//  Identifies a file named by the user before the engine reads it.

const MAGIC = 'GGUF';

/** The path the engine opens for a file: itself, its folder, or a link with the proper extension. `links`: the folder for
 *  links.
 *  @throws LonghandError `unreadable` with the reason `not-a-model`, and file system errors */
export async function openedByFile(path: string, links: string): Promise<string> {
  const begins = await beginOf(path);
  const named = path.toLowerCase().endsWith('.gguf');
  // A file preallocated by a download begins with zeros: let the engine judge it.
  if (named && (begins === MAGIC || /^\0*$/.test(begins))) return path;
  if (begins === MAGIC) return linkTo(path, links);
  if (/\.(safetensors|json|jinja|model)$/i.test(path)) return openedByFolder(dirname(path));
  throw notAModel(path, `begins with ${JSON.stringify(begins)}`);
}

/** The folder itself, or the only GGUF model in it.
 *  @throws LonghandError `unreadable` with the reason `not-a-model` or `several-models` */
export async function openedByFolder(folder: string): Promise<string> {
  const names = await readdir(folder).catch((error) => Promise.reject(fileFailure(folder, error)));
  if (names.includes('config.json')) return folder;
  const ggufs = names.filter(
    (name) => /\.gguf$/i.test(name) && !/mmproj/i.test(name) && !/-(?!00001)\d{5}-of-\d{5}\.gguf$/i.test(name),
  );
  const [first] = ggufs;
  if (first === undefined) throw notAModel(folder, 'has neither config.json nor a .gguf file');
  if (ggufs.length === 1) return join(folder, first);
  throw new LonghandError('unreadable', `[models] ${folder} holds ${ggufs.length} models; choose one of its files`, {
    details: { reason: 'several-models' },
  });
}

const notAModel = (path: string, what: string) =>
  new LonghandError(
    'unreadable',
    `[models] ${path} ${what}; a GGUF file, or a folder with config.json and safetensors is allowed`,
    { details: { reason: 'not-a-model' } },
  );

/** The first bytes of a file. Read here, so that file system errors (locked, no permission) are reported as such. */
async function beginOf(path: string): Promise<string> {
  const file = await openRegular(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function linkTo(path: string, links: string): Promise<string> {
  const plain =
    basename(path)
      .replace(/[^\w.-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 120) || 'model';
  // Two files of the same name get separate links.
  const apart = createHash('sha256').update(path).digest('hex').slice(0, 8);
  const link = join(links, `${plain}-${apart}.gguf`);
  await mkdir(links, { recursive: true });
  await removeLink(link);
  await symlink(path, link);
  return link;
}

/** How long a file is watched for growth, and how recently it must have changed to be watched. */
const LOOK_MS = 400;
const LATELY_MS = 60_000;

/** Whether another program is still writing a file: it grows, or changed just now. */
export async function isBeingWritten(path: string): Promise<boolean> {
  const before = await stat(path).catch(() => null);
  if (!before?.isFile() || Date.now() - before.mtimeMs > LATELY_MS) return false;
  await wait(LOOK_MS);
  const after = await stat(path).catch(() => null);
  return after !== null && (after.size !== before.size || after.mtimeMs !== before.mtimeMs);
}
