import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

//  Folders that are removed with their process, or after a kill by the next start.

const named = /^longhand-[a-z]+-(\d+)-\w{6}$/;

/** An empty folder for one purpose in the data folder, whose lock allows removing leftovers.
 *  If that is read-only, in the system's temporary folder. */
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

/** A folder in the system's temporary folder. Leftovers of dead processes are removed first. */
export function temporaryFolder(purpose: 'uploads' | 'opened' | 'copy' | 'shell'): string {
  sweep();
  return mkdtempSync(join(tmpdir(), `longhand-${purpose}-${process.pid}-`));
}

/** Removes leftovers of dead processes, of this user only. */
export function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(named.exec(name)?.[1] ?? 0);
    if (pid === 0 || isAlive(pid)) continue;
    const path = join(tmpdir(), name);
    try {
      const stat = lstatSync(path);
      if (stat.isDirectory() && stat.uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process removed it first.
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
