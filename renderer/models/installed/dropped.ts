import { pathOf } from '../../bridge.ts';
import type { ImportedModel } from './importing.ts';
import { modelsAmong } from './model-files.ts';

//  Sorts what was dropped on the window: models, and other files.

export type Dropped = { models: ImportedModel[]; files: File[] };

/** A file or folder; `path` is relative to what was dropped. `whole`: its path on disk, if the page may know it. */
type Found = { path: string; file: File; whole: string | null };

/** How deep a folder is searched for models if the core reads the rest by its path. */
const DEPTH = 4;
const MAX_SCANNED = 5000;

/** Must be called during the event: afterwards the browser drops the entries. */
export function readDropped(transfer: DataTransfer): Promise<Dropped> {
  const items = [...transfer.items].flatMap((item) => {
    const file = item.kind === 'file' ? item.getAsFile() : null;
    return file ? [{ file, entry: item.webkitGetAsEntry() }] : [];
  });
  const loose = items.filter(({ entry }) => !entry?.isDirectory).map(({ file }) => file);
  const folders = items.flatMap(({ file, entry }) => (entry && isFolder(entry) ? [{ file, entry }] : []));
  return sortAll(loose, folders);
}

/** Files that came through an input have no folders. */
export const sortFiles = (files: readonly File[]): Promise<Dropped> => sortAll(files, []);

async function sortAll(
  loose: readonly File[],
  folders: readonly { file: File; entry: FileSystemDirectoryEntry }[],
): Promise<Dropped> {
  const top = await Promise.all(
    loose.map(async (file): Promise<Found> => {
      const named = (await isUnnamedGguf(file)) ? `${file.name}.gguf` : file.name;
      return { path: named, file, whole: pathOf(file) };
    }),
  );
  const sorted = await Promise.all([sortFound(top), ...folders.map(sortFolder)]);
  return { models: sorted.flatMap(({ models }) => models), files: sorted.flatMap(({ files }) => files) };
}

/** In Electron a folder without models has a path and is read by the core; in a browser its files are gathered here. */
async function sortFolder({ file, entry }: { file: File; entry: FileSystemDirectoryEntry }): Promise<Dropped> {
  const root = pathOf(file);
  const budget = { left: root === null ? Number.POSITIVE_INFINITY : MAX_SCANNED };
  const found = await filesBelow(entry, '', root === null ? Number.POSITIVE_INFINITY : DEPTH, budget);
  if (root !== null && modelsAmong(found.map(({ path }) => path)).models.length === 0) {
    return { models: [], files: [file] };
  }
  const above = root?.replace(/[\\/][^\\/]+[\\/]?$/, '') ?? null;
  return sortFound(found.map((one) => ({ ...one, whole: above === null ? null : `${above}/${one.path}` })));
}

function sortFound(found: readonly Found[]): Dropped {
  const { models, others } = modelsAmong(found.map(({ path }) => path));
  const byPath = new Map(found.map((one) => [one.path, one]));
  const at = (path: string) => byPath.get(path) as Found;
  return {
    models: models.map(({ name, opens, parts }) => ({
      name,
      opens,
      parts: parts.map((path) => ({ path, file: at(path).file })),
      // A folder is known by any of its files.
      whole: (byPath.get(opens) ?? at(parts.find((path) => path.endsWith('config.json')) ?? parts[0] ?? opens)).whole,
    })),
    files: others.map((path) => at(path).file),
  };
}

/** Other programs may name files by hash: such a file is recognised by its first bytes. */
async function isUnnamedGguf(file: File): Promise<boolean> {
  if (file.name.includes('.')) return false;
  return (
    (await file
      .slice(0, 4)
      .text()
      .catch(() => '')) === 'GGUF'
  );
}

async function filesBelow(
  folder: FileSystemDirectoryEntry,
  above: string,
  depth: number,
  budget: { left: number },
): Promise<Found[]> {
  if (folder.name.startsWith('.') || depth < 0 || budget.left <= 0) return [];
  const path = above === '' ? folder.name : `${above}/${folder.name}`;
  const entries = await entriesIn(folder.createReader());
  budget.left -= entries.length;
  const inside = await Promise.all(
    entries.map(async (entry): Promise<Found[]> => {
      if (entry.name.startsWith('.')) return [];
      if (isFolder(entry)) return filesBelow(entry, path, depth - 1, budget);
      if (!isFile(entry)) return [];
      const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
      return [{ path: `${path}/${entry.name}`, file, whole: null }];
    }),
  );
  return inside.flat();
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** A reader hands out at most a hundred entries at a time. */
async function entriesIn(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  return portion.length === 0 ? [] : [...portion, ...(await entriesIn(reader))];
}
