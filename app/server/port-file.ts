import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularSync } from '../store/folder/open-regular.ts';

export const defaultPort = 4817;

//  Remembers the port, so that pages still open after a restart find the host again.

const fileIn = (folder: string) => join(folder, 'browser-port');

export function lastPort(folder: string): number {
  try {
    const port = Number(readRegularSync(fileIn(folder), 16));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : defaultPort;
  } catch {
    return defaultPort;
  }
}

/** Errors are ignored: nothing else depends on it. */
export function rememberPort(folder: string, port: number): void {
  try {
    // Removed first: it may be a link to something else.
    rmSync(fileIn(folder), { force: true });
    writeFileSync(fileIn(folder), String(port), { mode: 0o600, flag: 'wx' });
  } catch {
    return;
  }
}
