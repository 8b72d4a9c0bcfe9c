import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShrinkForm } from '../../protocol/index.ts';
import { readManifest } from '../storage/blob-store.ts';

//  Folders of models that were made here, at the top of the library.

const FOLDER = /.@made-[0-9a-f]{8}(\.\d+\.part)?$/;

/** File systems allow 255 bytes. */
const MAX_NAME = 80;
const safe = (name: string): string => name.replace(/[^\w.-]+/g, '-').slice(0, MAX_NAME) || 'model';

/** `folder`: of the model; `out`: what is made and later opened: the folder, or a GGUF file in it. */
export type MadePlace = { folder: string; out: string };

export function placeFor(library: string, name: string, form: ShrinkForm): MadePlace {
  const folder = join(library, `${safe(name)}@made-${randomBytes(4).toString('hex')}`);
  return { folder, out: form.format === 'mlx' ? folder : join(folder, `${safe(name)}.gguf`) };
}

/** The folder of a GGUF file has to be there before it is made; that of an MLX model must not be. */
export async function makeRoom(folder: string, out = ''): Promise<void> {
  if (out !== folder) await mkdir(folder, { recursive: true });
}

/** Removes a model that did not become whole, and the parts that a killed process left. */
export async function removeMade(library: string, { folder }: Pick<MadePlace, 'folder'>): Promise<void> {
  for (const name of await readdir(library).catch((): string[] => [])) {
    const path = join(library, name);
    if (path === folder || (path.startsWith(`${folder}.`) && FOLDER.test(name)))
      await rm(path, { recursive: true, force: true });
  }
}

export type Whole = MadePlace & { name: string };

/** The models that were made here, after what did not become whole was removed. `skips`: what is being made now. */
export async function sweepMade(library: string, skips: (folder: string) => boolean): Promise<Whole[]> {
  const whole: Whole[] = [];
  for (const entry of await readdir(library).catch((): string[] => [])) {
    const folder = join(library, entry);
    if (!FOLDER.test(entry) || skips(folder)) continue;
    const manifest = entry.endsWith('.part') ? null : await readManifest(folder);
    if (manifest) {
      const gguf = manifest.files.find(({ name }) => name.endsWith('.gguf'));
      whole.push({ folder, out: gguf ? join(folder, gguf.name) : folder, name: manifest.name });
    } else await rm(folder, { recursive: true, force: true });
  }
  return whole;
}
