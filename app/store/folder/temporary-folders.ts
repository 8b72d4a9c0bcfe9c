import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

//  Folders that end with their process. A process that is killed cannot remove them: the next start does.

const named = /^longhand-[a-z]+-(\d+)-\w{6}$/;

/** A folder of this process for one purpose, in the data folder: whoever holds that may remove what another time left there.
 *  Where nothing can be written, in the system's place for such folders. */
export function emptyFolder(dataFolder: string, purpose: 'uploads' | 'opened'): string {
  const folder = join(dataFolder, purpose);
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(folder, 0o700);
    return folder;
  } catch {
    return temporaryFolder(purpose);
  }
}

/** A folder in the system's place for temporary ones. What processes that are gone left there is removed first. */
export function temporaryFolder(purpose: 'uploads' | 'opened' | 'copy' | 'shell'): string {
  sweep();
  return mkdtempSync(join(tmpdir(), `longhand-${purpose}-${process.pid}-`));
}

/** Removes what processes that are gone left there: only folders of this user. */
export function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(named.exec(name)?.[1] ?? 0);
    if (pid === 0 || isAlive(pid)) continue;
    const path = join(tmpdir(), name);
    try {
      const stat = lstatSync(path);
      if (stat.isDirectory() && stat.uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another start was quicker.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
