import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { Step } from '../step.ts';

//  The parts of an evaluation in a folder, so that one that was stopped goes on where it was.

const PRINT = 'print';

export type Parts = { step: Step; replaying(): boolean };

/** `print`: of the models, the test and the text. Parts of anything else are removed first. `turn`: awaited before each part. */
export async function openParts(folder: string, print: string, turn: () => Promise<void>): Promise<Parts> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const mark = join(folder, PRINT);
  if ((await readFile(mark, 'utf8').catch(() => '')) !== print) {
    for (const name of await readdir(folder)) if (name.endsWith('.part')) await rm(join(folder, name));
    await write(mark, print);
  }
  let replaying = false;
  return {
    replaying: () => replaying,
    async step<Found>(name: string, work: () => Promise<Found>): Promise<Found> {
      const path = join(folder, `${name.replaceAll(' ', '-')}.part`);
      const kept = await readPart<Found>(path);
      replaying = kept !== null;
      if (kept) return kept.found;
      await turn();
      const found = await work();
      await write(path, serialize({ found }));
      return found;
    },
  };
}

/** Null for a part that is not there, or was damaged. */
async function readPart<Found>(path: string): Promise<{ found: Found } | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  try {
    const { found } = deserialize(bytes) as { found: Found };
    return { found };
  } catch {
    return null;
  }
}

/** Appears whole or not at all. */
async function write(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

export const printOf = (...what: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(what)).digest('hex');
