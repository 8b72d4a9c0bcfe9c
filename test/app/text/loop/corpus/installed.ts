import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import chosen from './installed.json' with { type: 'json' };

//  Documentation and source code that lies on the machine anyway: the npm packages of the lock file, and Debian packages where
//  this is Debian. Only their names and hashes are kept here. A file that is another version is not read, so that the corpus
//  stays the one that was frozen.

export interface Installed {
  readonly found: readonly { name: string; kind: string; text: string }[];
  /** Debian files that this machine has not, or has in another version. */
  readonly absent: number;
}

const root = new URL('../../../../../', import.meta.url);

function read(path: string): Buffer | undefined {
  const file = path.startsWith('/') ? new URL(`file://${path}`) : new URL(path, root);
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

export function installed(): Installed {
  const found: { name: string; kind: string; text: string }[] = [];
  let absent = 0;
  for (const { path, kind, sha256 } of chosen) {
    const bytes = read(path);
    if (bytes && createHash('sha256').update(bytes).digest('hex').startsWith(sha256)) {
      found.push({ name: path, kind, text: bytes.toString('utf8') });
    } else absent += 1;
  }
  return { found, absent };
}
