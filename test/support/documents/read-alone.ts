import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Element, Reader } from '../../../app/documents/element.ts';
import { newFolder } from '../core/core.ts';

export type Read = Awaited<ReturnType<typeof readAlone>>;

/** What one reader makes of a file, in this process. `bytes`: what it is told of its size, if not what it has. */
export async function readAlone(reader: Reader, fileName: string, content: string | Uint8Array, bytes?: number) {
  const path = join(newFolder(), fileName);
  writeFileSync(path, content);
  const pieces: Element[] = [];
  let started = 0;
  const notices: unknown[] = [];
  const progress: [done: number, total: number][] = [];
  const source = { path, fileName, bytes: bytes ?? Buffer.byteLength(content), password: null, ocr: false };
  const { title, pages } = await reader(source, {
    // What is not waited for comes too late, and out of order.
    add: async (piece) => {
      for (let turns = started++ === 0 ? 3 : 1; turns > 0; turns--) await setImmediate();
      pieces.push(piece);
    },
    progress: (_, done, total) => progress.push([done, total]),
    notice: (code, details) => notices.push(details ? { code, details } : code),
  });
  return { title, pages, pieces, notices, progress, lines: pieces.map(shown) };
}

export const shown = ({ kind, level, text, head }: Element): string =>
  `${kind}${level ?? ''}${head ? '*' : ''}: ${text}`;
