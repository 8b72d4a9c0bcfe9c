import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Calibration } from '../../../conversion/making/calibration.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { Context } from '../../runtime/command.ts';

/** Longer calibration texts add nothing. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A text, or lists of token ids. */
export function readCalibration(context: Context, name: string): Calibration {
  const path = resolve(context.places.here, name);
  const fail = (why: string) => new LonghandError('bad-request', `[--calibration] ${path} ${why}`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw fail('is not a file');
  if (stats.size > MAX_BYTES) throw fail(`has ${stats.size} bytes, at most ${MAX_BYTES} are allowed`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw fail(
      error instanceof TypeError ? 'is not text: its bytes are not UTF-8' : `cannot be read: ${String(error)}`,
    );
  }
  if (text.trim() === '') throw fail('is empty');
  return { name, content: idsIn(text) ?? text };
}

/** `[[1, 2], [3]]`, or the same as `calibration_batch` of an object. */
function idsIn(text: string): Int32Array[] | null {
  if (!/^\s*[[{]/.test(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const lists = Array.isArray(value) ? value : ((value as Record<string, unknown>).calibration_batch ?? null);
  const isIds = (ids: unknown) => Array.isArray(ids) && ids.every((id) => Number.isInteger(id));
  return Array.isArray(lists) && lists.length > 0 && lists.every(isIds)
    ? lists.map((ids) => Int32Array.from(ids))
    : null;
}
