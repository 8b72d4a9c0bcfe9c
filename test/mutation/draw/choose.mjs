// Which mutants are made: so many, spread over areas, the same for the same seed.
import { spawnSync } from 'node:child_process';
import { root } from '../tree.mjs';
import { sitesOf } from './sites.mjs';

export const SIDES = {
  typescript: {
    of: /^(?:app\/(?!launch\/)|main\/|renderer\/(?:stores|lib)\/).*\.tsx?$/,
    not: /\.d\.ts$|\.config\.ts$/,
  },
  native: {
    of: /^(?:native|metal)\/.*\.(?:cc|h|mm|metal|comp|glsl)$/,
    not: /^native\/vulkan\/spirv|unavailable\.cc$|_neon|_i8mm|^native\/vision/,
  },
};

/** `app/store`, `native/engine`, `metal`, `main`, `renderer`. */
export const areaOf = (file) => {
  const [top, room] = file.split('/');
  return top === 'app' || top === 'native' ? `${top}/${room}` : top;
};

const git = (...args) => String(spawnSync('git', args, { cwd: root, maxBuffer: 1e8 }).stdout);

/** Files that git knows or would take. */
export const listed = (places = []) =>
  git('ls-files', '-co', '--exclude-standard', '--', ...places)
    .split('\n')
    .filter(Boolean);

export const filesOf = (side, words) =>
  listed()
    .filter((file) => SIDES[side].of.test(file) && !SIDES[side].not.test(file))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

/** The lines that differ from `ref`, by file. */
export function changedLines(ref) {
  const [lines, files] = [new Map(), git('diff', '-U0', '--no-color', '--relative', ref).split(/^diff --git .*$/m)];
  for (const part of files) {
    const file = /^\+\+\+ b\/(.*)$/m.exec(part)?.[1];
    if (!file) continue;
    const ranges = [...part.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].map(([, first, count]) => [
      Number(first),
      Number(first) + Number(count ?? 1) - 1,
    ]);
    lines.set(file, ranges);
  }
  return lines;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const grouped = (list, key) => Map.groupBy(list, key);

/** How many of each area: by the square root of what it holds, so that a small one is judged too. */
function quotas(areas, count) {
  const weight = [...areas.values()].reduce((sum, sites) => sum + Math.sqrt(sites.length), 0);
  return new Map(
    [...areas].map(([area, sites]) => [
      area,
      Math.min(sites.length, Math.round((count * Math.sqrt(sites.length)) / weight)),
    ]),
  );
}

/** Of one area: first the kind of mutant, then the place, so that what is frequent does not push out a missing barrier. */
function drawn(sites, count, random) {
  const [kinds, taken] = [grouped(sites, ({ operator }) => operator), []];
  const overlaps = (a) => taken.some((b) => b.file === a.file && a.start < b.end && b.start < a.end);
  while (taken.length < count && kinds.size > 0) {
    const kind = [...kinds.keys()][Math.floor(random() * kinds.size)];
    const places = kinds.get(kind);
    const [site] = places.splice(Math.floor(random() * places.length), 1);
    if (places.length === 0) kinds.delete(kind);
    if (!overlaps(site)) taken.push(site);
  }
  return taken;
}

/** The mutants of a draw, numbered from 1. With `since`, all that differ from there may be drawn, and nothing else. */
export async function choose({ side, count, seed, words, since }) {
  const lines = since ? changedLines(since) : undefined;
  const files = filesOf(side, words).filter((file) => !lines || lines.has(file));
  const all = [];
  for (const file of files) {
    const isChanged = ({ line }) => !lines || lines.get(file).some(([first, last]) => line >= first && line <= last);
    all.push(...(await sitesOf(root, file)).filter(isChanged));
  }
  const [areas, random] = [grouped(all, ({ file }) => areaOf(file)), randomOf(seed)];
  const share = quotas(areas, count);
  return [...areas]
    .flatMap(([area, sites]) => drawn(sites, share.get(area), random))
    .map((site, k) => ({ id: k + 1, ...site }));
}
