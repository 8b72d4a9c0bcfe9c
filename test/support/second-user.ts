import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

//  Another user of the computer, as far as a test that runs as root can become one.

export const nobody = 65534;
export const isRoot: boolean = process.getuid?.() === 0;

/** Runs a Node script as that user. */
export function asNobody(
  script: string,
  args: readonly string[] = [],
): { stdout: string; stderr: string; code: number | null } {
  const become = `process.setgroups([]); process.setgid(${nobody}); process.setuid(${nobody});`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `${become}\n${script}`, '--', ...args],
    { encoding: 'utf8', cwd: '/', timeout: 20_000, maxBuffer: 64 * 1024 * 1024 },
  );
  return { stdout, stderr, code: status };
}

/** A folder and everything below it. */
export function everythingIn(folder: string): string[] {
  const inside = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? everythingIn(path) : [path];
  });
  return [folder, ...inside];
}

/** Whether anybody but the owner has any permission. A file that has disappeared is open to nobody. */
export const isOpenToOthers = (path: string): boolean =>
  ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
