import { dirname, join, normalize } from 'node:path';

//  ARCHITECTURE.md section 2 as data. A file belongs to the longest `from` its path begins with; it may import what is
//  below one of `to` or of its own `from`. Type-only imports count. Nothing imports test, and test may import all.

export type Law = { readonly from: string; readonly to: readonly string[] };

const services = [
  'app/chat',
  'app/documents',
  'app/models',
  'app/metrics',
  'app/tools',
  'app/pictures',
  'app/text',
  'app/engine',
  'app/store',
];

/** Each layer may import those before it; folders of one layer do not know each other. */
function layersOf(root: string, shared: readonly string[], layers: readonly (readonly string[])[]): Law[] {
  return layers.flatMap((names, at) => {
    const below = layers.slice(0, at).flatMap((layer) => layer.map((name) => `${root}/${name}`));
    return names.map((name) => ({ from: `${root}/${name}`, to: [...below, ...shared] }));
  });
}

export const LAWS: readonly Law[] = [
  { from: 'renderer', to: ['app/protocol'] },
  ...layersOf(
    'renderer',
    ['app/protocol', 'renderer/bridge.ts', 'renderer/i18n.ts', 'renderer/sentences.ts'],
    [
      ['strings'],
      ['lib'],
      ['ui'],
      ['stores'],
      ['commands'],
      ['parts'],
      ['viewer'],
      ['chat', 'documents', 'models', 'performance', 'server', 'settings', 'onboarding'],
      ['shell'],
    ],
  ),
  { from: 'main', to: ['app', 'renderer/strings'] },
  { from: 'app/protocol', to: [] },
  { from: 'app/launch', to: [] },
  { from: 'app/process', to: ['app/protocol'] },
  { from: 'app/text', to: ['app/process', 'app/protocol'] },
  {
    from: 'app/pictures',
    to: ['app/process', 'app/store/folder/open-regular.ts', 'app/store/folder/temporary-folders.ts', 'app/protocol'],
  },
  { from: 'app/store', to: ['app/protocol'] },
  { from: 'app/metrics', to: ['app/store', 'app/protocol'] },
  { from: 'app/quality', to: ['app/protocol'] },
  {
    from: 'app/quality/evaluation',
    to: [
      'app/quality',
      'app/engine/process/addon.ts',
      'app/engine/process/generation/single-answer.ts',
      'app/engine/process/model/tokenizer-files.ts',
      'app/text',
      'app/protocol',
      'native/addon/index.d.ts',
    ],
  },
  {
    from: 'app/conversion',
    to: [
      'app/engine/process/addon.ts',
      'app/engine/process/addon-errors.ts',
      'app/engine/process/model/tokenizer-files.ts',
      'app/quality',
      'app/process',
      'app/text',
      'app/protocol',
      'native/addon/index.d.ts',
    ],
  },
  { from: 'app/tools', to: ['app/process', 'app/text', 'app/store', 'app/protocol'] },
  {
    from: 'app/engine',
    to: [
      'app/pictures',
      'app/text',
      'app/process',
      'app/store/folder/open-regular.ts',
      'app/protocol',
      'native/addon/index.d.ts',
    ],
  },
  {
    from: 'app/models',
    to: ['app/conversion', 'app/quality', 'app/engine', 'app/store', 'app/protocol', 'native/addon/index.d.ts'],
  },
  { from: 'app/documents', to: ['app/engine', 'app/process', 'app/text', 'app/store', 'app/protocol'] },
  {
    from: 'app/chat',
    to: [
      'app/documents',
      'app/models',
      'app/tools',
      'app/pictures',
      'app/text',
      'app/metrics',
      'app/engine',
      'app/store',
      'app/protocol',
    ],
  },
  { from: 'app/core', to: [...services, 'app/process', 'app/protocol'] },
  {
    from: 'app/server',
    to: [
      'app/core',
      'app/conversion/process/fork-converter.ts',
      'app/engine/client/fork-engine.ts',
      'app/documents/parse/fork-parser.ts',
      'app/store/folder/data-dir.ts',
      'app/store/lock.ts',
      'app/store/folder/open-regular.ts',
      'app/store/folder/temporary-folders.ts',
      'app/protocol',
    ],
  },
  {
    from: 'app/cli',
    to: [
      'app/core',
      'app/server',
      'app/quality',
      'app/conversion',
      ...services,
      'app/protocol',
      'native/addon/index.d.ts',
    ],
  },
  { from: 'test', to: ['app', 'main', 'renderer', 'native', 'resources', 'electron.vite.config.ts'] },

  { from: 'native/formats', to: ['native/ops'] },
  { from: 'native/ops', to: [] },
  { from: 'native/architectures', to: ['native/ops', 'native/formats'] },
  { from: 'native/grammar', to: ['native/formats'] },
  { from: 'native/engine', to: ['native/architectures', 'native/grammar', 'native/ops', 'native/formats'] },
  { from: 'native/cpu', to: ['native/ops', 'native/formats'] },
  { from: 'native/quantize', to: ['native/ops', 'native/formats'] },
  { from: 'native/gpu', to: ['native/ops'] },
  { from: 'native/metal', to: ['native/gpu', 'native/ops', 'native/formats'] },
  { from: 'native/vulkan', to: ['native/gpu', 'native/ops', 'native/formats'] },
  { from: 'native/vision', to: ['native/formats'] },
  {
    from: 'native/addon',
    to: [
      'native/engine',
      'native/grammar',
      'native/architectures',
      'native/ops',
      'native/formats',
      'native/quantize',
      'native/vision',
    ],
  },
  {
    from: 'native/addon/devices.cc',
    to: ['native/formats', 'native/cpu', 'native/metal', 'native/vulkan', 'native/ops', 'native/addon'],
  },
  { from: 'metal', to: ['native/ops/params.h'] },
];

/** Words that stand in one place only. `pattern` is looked for in code, not in comments. */
export type Place = { readonly word: string; readonly pattern: RegExp; readonly only: RegExp };
export const PLACES: readonly Place[] = [
  { word: 'ipcMain', pattern: /\bipcMain\b/, only: /^main\/ipc\.ts$/ },
  { word: 'ipcRenderer', pattern: /\bipcRenderer\b/, only: /^main\/preload\.ts$/ },
  { word: 'electron', pattern: /from ['"]electron['"]/, only: /^main\// },
  { word: 'react', pattern: /from ['"]react(-dom)?['"/]/, only: /^renderer\// },
  { word: 'node:sqlite', pattern: /['"]node:sqlite['"]/, only: /^app\/store\/database\/database(-thread)?\.ts$/ },
  {
    word: 'SQL',
    pattern: /\b(SELECT [\w*('$]|INSERT (OR \w+ )?INTO |UPDATE \w+ SET |DELETE FROM )/,
    only: /^(app\/store\/|native\/|metal\/)/,
  },
  { word: 'the loading of the addon', pattern: /createRequire\(/, only: /^app\/engine\/process\/addon\.ts$/ },
  // One word a thing: limits are MAX_, and what tells members of a union apart is its `status`, `phase` or `kind`.
  { word: 'MOST_', pattern: /\bMOST_[A-Z]/, only: /^(app\/text\/loop|native|metal)\// },
  {
    word: "a union told apart by 'at'",
    pattern: /discriminatedUnion\(\s*'at'|\bat: '[a-z][\w-]*'\s*[,;}]/,
    only: /^native\//,
  },
  { word: 'napi.h', pattern: /#include\s*[<"]napi\.h/, only: /^native\/addon\// },
  {
    word: 'the network of a page',
    pattern: /\b(WebSocket|XMLHttpRequest|EventSource)\(/,
    only: /^(?!renderer\/(?!bridge))/,
  },
];

export type SourceFile = { readonly path: string; readonly text: string };

const CODE = /\.(ts|tsx|mts)$/;
const NATIVE = /\.(cc|h|mm|metal)$/;

/** Paths from the root that a file imports or includes. Only ours: packages and system headers are not in the law. */
export function importsOf({ path, text }: SourceFile): string[] {
  if (NATIVE.test(path)) {
    const includes = [...text.matchAll(/^\s*#\s*(?:include|import)\s*"([^"]+)"/gm)].map((match) => match[1] ?? '');
    return includes.map((name) => resolveInclude(path, name)).filter((found) => found !== null);
  }
  if (!CODE.test(path)) return [];
  const code = withoutComments(text);
  const specifiers = code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g);
  return [...specifiers].map((match) => normalize(join(dirname(path), (match[1] ?? '').replace(/\?\w+$/, ''))));
}

/** `"ops/backend.h"` is written from native/, `"blocks.h"` from the own folder. */
function resolveInclude(path: string, name: string): string | null {
  if (name.startsWith('.')) return normalize(join(dirname(path), name));
  if (path.startsWith('metal/')) return name.startsWith('ops/') ? `native/${name}` : join(dirname(path), name);
  return name.includes('/') ? `native/${name}` : `${dirname(path)}/${name}`;
}

/** Comments go, strings stay. */
export function withoutComments(text: string): string {
  return text.replace(/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1');
}

const isBelow = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

export function lawOf(path: string, laws: readonly Law[] = LAWS): Law | undefined {
  return laws
    .filter(({ from }) => isBelow(path, from))
    .sort((a, b) => b.from.length - a.from.length)
    .at(0);
}

/** A sentence for every import that the laws forbid. */
export function violations(files: readonly SourceFile[], laws: readonly Law[] = LAWS): string[] {
  return files.flatMap((file) => {
    const law = lawOf(file.path, laws);
    if (!law) return [`${file.path} is in no folder that ARCHITECTURE.md names`];
    return importsOf(file)
      .filter((target) => ![law.from, ...law.to].some((place) => isBelow(target, place)))
      .map((target) => `${file.path} imports ${target}; ${law.from} may import ${law.to.join(', ') || 'nothing else'}`);
  });
}

export function misplaced(files: readonly SourceFile[], places: readonly Place[] = PLACES): string[] {
  return files.flatMap(({ path, text }) => {
    const code = withoutComments(text);
    return places
      .filter(({ pattern, only }) => !only.test(path) && pattern.test(code))
      .map(({ word, only }) => `${path} has ${word}; only ${only.source} may`);
  });
}

/** Files that import each other in a ring, one list a ring. Headers guard themselves and are left out. */
export function cycles(files: readonly SourceFile[]): string[][] {
  return ringsOf(new Map(files.filter(({ path }) => CODE.test(path)).map((file) => [file.path, importsOf(file)])));
}

/** In the core a room is a folder of a service with all below it, and files beside the rooms stand for themselves. In the
 *  page every folder is a room: its own files, without those of the folders in it. */
const roomOf = (path: string): string =>
  path.startsWith('renderer/') && path.split('/').length > 2
    ? dirname(path)
    : (/^app\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0] ?? path);

/** Rings of rooms: two rooms that need each other are one, or lack a third below them. */
export function roomCycles(files: readonly SourceFile[]): string[][] {
  const rooms = new Map<string, Set<string>>();
  for (const file of files.filter(({ path }) => CODE.test(path) && /^(app|renderer)\//.test(path))) {
    const room = roomOf(file.path);
    const known = rooms.get(room) ?? new Set();
    for (const target of importsOf(file)) if (roomOf(target) !== room) known.add(roomOf(target));
    rooms.set(room, known);
  }
  return ringsOf(rooms);
}

function ringsOf(known: ReadonlyMap<string, Iterable<string>>): string[][] {
  const done = new Set<string>();
  const rings: string[][] = [];
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      rings.push([...trail.slice(at), path]);
      return;
    }
    if (done.has(path)) return;
    for (const next of known.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of known.keys()) visit(path, []);
  return rings;
}
