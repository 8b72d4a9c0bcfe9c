import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Reads a small file that somebody named. A pipe or a device keeps nobody waiting and fills no memory: it is opened without
 *  blocking and refused before a byte is read; of a file that grows meanwhile no more than `mostBytes` are taken.
 *  @throws Error when it is no file, is larger than `mostBytes`, or cannot be read */
export function readSmallFile(path: string, mostBytes: number): Buffer {
  // Not on Windows.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a file`);
    if (stat.size > mostBytes) throw new Error(`${path} has ${stat.size} bytes, at most ${mostBytes} are read`);
    // Files of the system (/proc) have the size 0 and content all the same.
    const bytes = Buffer.alloc(stat.size > 0 ? stat.size : mostBytes);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
