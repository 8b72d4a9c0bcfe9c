import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Encrypts text with a key kept by the operating system, passed in by a shell that has one: even the owner's files then hold
 *  no secret as it is. */
export type Cipher = { seal(text: string): Promise<string>; open(sealed: string): Promise<string> };

/** Replaces a small file whole. It is never readable by others, not even while being written. */
export function replacePrivate(file: string, text: string): void {
  const next = `${file}.new`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
  chmodSync(next, 0o600);
  renameSync(next, file);
}
