import { isElectron } from '../bridge.ts';

/** What was dropped. In Electron a folder has a path and is read by the core; in a browser its files are gathered here.
 *  Must be called before the event ends: the browser forgets the entries then. */
export function filesOf(transfer: DataTransfer): Promise<File[]> {
  const plain = [...transfer.files];
  if (isElectron()) return Promise.resolve(plain);
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (!entries.some((entry) => entry.isDirectory)) return Promise.resolve(plain);
  return Promise.all(entries.map(filesBelow)).then((all) => all.flat());
}

async function filesBelow(entry: FileSystemEntry): Promise<File[]> {
  if (entry.name.startsWith('.')) return [];
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))];
  if (!isFolder(entry)) return [];
  const inside = await Promise.all((await entriesIn(entry.createReader())).map(filesBelow));
  return inside.flat();
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** A reader hands out at most a hundred entries at a time. */
async function entriesIn(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  return portion.length === 0 ? [] : [...portion, ...(await entriesIn(reader))];
}
