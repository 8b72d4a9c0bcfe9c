import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Goal } from '../../conversion/process/messages.ts';
import { building, type Manifest, readManifest, writeManifest } from '../storage/blob-store.ts';

//  Folders of models that were made here, at the top of the library. Only a whole one has its final name.

const WHOLE = /.@made-[0-9a-f]{8}$/;
const REST = /.@made-[0-9a-f]{8}\.new(\.\d+\.part)?$/;

/** File systems allow 255 bytes. */
const MAX_NAME = 80;
const safe = (name: string): string => name.replace(/[^\w.-]+/g, '-').slice(0, MAX_NAME) || 'model';

/** `folder`: of the model; `opens`: the path in it that the engine opens, which is the folder itself or a GGUF file. */
export type MadePlace = { folder: string; opens: string };

export function placeFor(library: string, name: string, goal: Goal): MadePlace {
  const folder = join(library, `${safe(name)}@made-${randomBytes(4).toString('hex')}`);
  const inFile = goal.kind === 'weights' && goal.form.format === 'gguf';
  return { folder, opens: inFile ? join(folder, `${safe(name)}.gguf`) : folder };
}

/** Where it is made. The folder of a GGUF file has to be there before; that of any other model must not be. */
export async function beginMade({ folder, opens }: MadePlace): Promise<string> {
  const work = building(folder);
  if (opens === folder) return work;
  await mkdir(work, { recursive: true });
  return join(work, basename(opens));
}

/** Gives what was made its final name. */
export async function finishMade({ folder }: MadePlace, manifest: Manifest): Promise<void> {
  const work = building(folder);
  await writeManifest(work, manifest);
  await rename(work, folder);
}

/** Removes a model that was not listed, and the parts that a killed process left of it. */
export async function removeMade(library: string, { folder }: MadePlace): Promise<void> {
  for (const name of await readdir(library).catch((): string[] => [])) {
    const path = join(library, name);
    if (path === folder || (path.startsWith(`${folder}.`) && REST.test(name)))
      await rm(path, { recursive: true, force: true });
  }
}

export type Whole = MadePlace & { name: string };

/** The models that were made here, after the rests of others were removed. `skips`: what is being made now. */
export async function sweepMade(library: string, skips: (folder: string) => boolean): Promise<Whole[]> {
  const whole: Whole[] = [];
  for (const entry of await readdir(library).catch((): string[] => [])) {
    const folder = join(library, entry);
    if (skips(folder)) continue;
    if (REST.test(entry)) await rm(folder, { recursive: true, force: true });
    const manifest = WHOLE.test(entry) ? await readManifest(folder) : null;
    if (!manifest) continue;
    const gguf = manifest.files.find(({ name }) => name.endsWith('.gguf'));
    whole.push({ folder, opens: gguf ? join(folder, gguf.name) : folder, name: manifest.name });
  }
  return whole;
}
