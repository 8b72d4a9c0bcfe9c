import { isAbsolute } from 'node:path';
import type { z } from 'zod';

//  Values as they stand in the database. A disk that lies, another program or another version may have changed one of them, which
//  SQLite does not notice: it must not take what is around it along. The value itself stays as it is until it is written anew.

/** A JSON column; `otherwise` for text of any other shape. */
export function storedJson<Shape extends z.ZodType>(
  shape: Shape,
  text: string | null,
  otherwise: z.output<Shape>,
): z.output<Shape> {
  if (text === null) return otherwise;
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return otherwise;
  }
}

/** A whole path; null for anything else: a relative one would name a place beside the program. */
export const storedPath = (path: string | null): string | null =>
  path !== null && isAbsolute(path) && path.length <= 4096 && !path.includes('\0') ? path : null;

/** A whole number that JavaScript has exactly. */
export const storedInteger = (value: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));

/** A column of a closed set of words. */
export const storedWord = <const Word extends string>(words: readonly Word[], text: string, otherwise: Word): Word =>
  words.find((word) => word === text) ?? otherwise;

/** Whether a text can be an id. */
export const isStoredId = (text: string): boolean => text !== '' && text.length <= 64;

/** A reference to another row; null for what can be none. */
export const storedId = <Id extends string>(id: Id | null): Id | null => (id !== null && isStoredId(id) ? id : null);
