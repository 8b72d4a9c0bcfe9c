// Two scripts started at once must not install or compile into the same folders: the second waits for the first.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sayStep } from './say.mjs';

/** Resolves to the function that releases the lock. A lock whose owner has ended is taken over. */
export async function lockSetup(root) {
  const folder = join(root, '.cache', 'setup');
  const file = join(folder, 'lock');
  mkdirSync(folder, { recursive: true });
  for (let said = false; ; said = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isAlive(ownerOf(file))) {
      rmSync(file, { force: true });
      continue;
    }
    if (!said) sayStep('Waiting for another setup of this folder to finish');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
