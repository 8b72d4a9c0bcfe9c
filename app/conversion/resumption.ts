import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

//  What a run that was killed had finished, so that the same run does not begin again.

const LOG = 'progress.json';
/** Changes when the same request would be written otherwise. */
const VERSION = 1;
/** Syncing after every small tensor would take longer than rounding it. */
const EVERY_MS = 3000;

const Progress = z.object({
  key: z.string(),
  /** Names of tensors that are in the file as a whole. */
  tensors: z.array(z.string()),
  /** Sums over them, for the relative error. */
  error: z.number(),
  energy: z.number(),
});
export type Progress = z.infer<typeof Progress>;

/** The same for the same request of the same files. */
export const keyOf = (request: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([VERSION, request]))
    .digest('hex');

/** What tells one state of a model's weights from another. */
export function stampOf(path: string): (string | number)[][] {
  const names = statSync(path).isFile() ? [''] : readdirSync(path).filter((name) => /\.(safetensors|json)$/.test(name));
  return names.sort().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return [name, size, mtimeMs];
  });
}

/** Null for a folder without one, and for one that was being written when the power went. */
export const readProgress = (folder: string): Promise<Progress | null> =>
  readFile(join(folder, LOG), 'utf8').then(
    (text) => Progress.parse(JSON.parse(text)),
    () => null,
  );

/** Folders that runs left which were killed. */
export class Leftovers {
  #folders: string[];

  constructor(folders: readonly string[]) {
    this.#folders = [...folders];
  }

  /** Moves what the same request had written to `part`; everything else is removed. Null: there is nothing to go on from. */
  async adopt(key: string, part: string): Promise<Progress | null> {
    let found: Progress | null = null;
    for (const folder of this.#folders.splice(0)) {
      const progress: Progress | null = found ? null : await readProgress(folder);
      if (progress?.key === key) {
        await rename(folder, part);
        found = progress;
      } else await rm(folder, { recursive: true, force: true });
    }
    return found;
  }

  async remove(): Promise<void> {
    for (const folder of this.#folders.splice(0)) await rm(folder, { recursive: true, force: true });
  }
}

/** Keeps the progress of a run beside its file. */
export class ProgressLog {
  #path: string;
  #sync: () => Promise<void>;
  #known: Progress;
  /** Long ago: the first tensor is kept at once. */
  #written = 0;

  /** `sync`: has the file on the disk. */
  constructor(part: string, known: Progress, sync: () => Promise<void>) {
    this.#path = join(part, LOG);
    this.#known = known;
    this.#sync = sync;
  }

  has(tensor: string): boolean {
    return this.#known.tensors.includes(tensor);
  }

  async add(tensor: string, { error, energy }: { error: number; energy: number }): Promise<void> {
    const { key, tensors } = this.#known;
    this.#known = { key, tensors: [...tensors, tensor], error, energy };
    if (Date.now() - this.#written < EVERY_MS) return;
    await this.#sync();
    await writeFile(`${this.#path}.new`, JSON.stringify(this.#known));
    await rename(`${this.#path}.new`, this.#path);
    this.#written = Date.now();
  }

  /** The file is whole. */
  async end(): Promise<void> {
    await rm(this.#path, { force: true });
    await rm(`${this.#path}.new`, { force: true });
  }
}
