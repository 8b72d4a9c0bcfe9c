// The tests nearest to a file by what imports what: those are tried before any other.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize } from 'node:path';
import { SLOW } from '../../vitest.config.ts';
import { listed } from './choose.mjs';

const MOST = 9;
const IMPORTS = /(?:from|import|import\()\s*'(\.[^']+\.m?tsx?)'|'([\w./-]+\.ts)'\)/g;

/** Who imports a file, by file. */
function importersIn(root) {
  const importers = new Map();
  for (const file of listed(['app', 'main', 'renderer', 'test']).filter((name) => /\.tsx?$/.test(name))) {
    for (const [, path, plain] of readFileSync(join(root, file), 'utf8').matchAll(IMPORTS)) {
      const to = normalize(join(dirname(file), path ?? plain));
      if (existsSync(join(root, to))) importers.set(to, (importers.get(to) ?? new Set()).add(file));
    }
  }
  return importers;
}

const shared = (a, b) => {
  const [x, y] = [a.split('/'), b.replace(/^test\//, '').split('/')];
  const differs = x.findIndex((part, at) => part.replace(/\.tsx?$/, '') !== y[at]?.replace(/\.test\.tsx?$/, ''));
  return differs < 0 ? x.length : differs;
};

const isTest = (name) => /\.test\.tsx?$/.test(name);

const isSlow = (name) => SLOW.some((glob) => matchesGlob(name.slice('test/'.length), glob));

/** For a file: its tests, first those that import it themselves and the quick ones, of those the nearest, and of those as near the ones whose
 *  path is alike. */
export function nearestTests(root) {
  const importers = importersIn(root);
  const all = listed(['test/app', 'test/main', 'test/renderer']).filter(isTest);
  return (file) => {
    const [far, line] = [new Map([[file, 0]]), [file]];
    for (const at of line)
      for (const next of importers.get(at) ?? [])
        if (!far.has(next)) {
          far.set(next, far.get(at) + 1);
          line.push(next);
        }
    const tests = [...far].filter(([name]) => isTest(name));
    // What runs as a process of its own is imported by nobody.
    const found = tests.length > 0 ? tests : all.filter((name) => shared(file, name) > 1).map((name) => [name, 9]);
    const rank = ([name, steps]) => steps - shared(file, name) + (steps > 1 && isSlow(name) ? 10 : 0);
    return found
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, MOST)
      .map(([name]) => name);
  };
}
