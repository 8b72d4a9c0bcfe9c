// Completed steps are recorded with a hash of their inputs, so that repeating them costs nothing.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Hash of files and folders (by path and content) and of words beside them. */
export function hashOf(root, paths, words = []) {
  const hash = createHash('sha256');
  for (const word of words) hash.update(`${word}\0`);
  for (const file of paths.flatMap((path) => filesBelow(join(root, path))).sort()) {
    hash
      .update(`${relative(root, file).split(sep).join('/')}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

const fileOf = (root, name) => join(root, '.cache', 'setup', name);

export function isStamped(root, name, hash) {
  const file = fileOf(root, name);
  return existsSync(file) && readFileSync(file, 'utf8') === hash;
}

export function stamp(root, name, hash) {
  mkdirSync(join(root, '.cache', 'setup'), { recursive: true });
  writeFileSync(fileOf(root, name), hash);
}

export const unstamp = (root, name) => rmSync(fileOf(root, name), { force: true });
