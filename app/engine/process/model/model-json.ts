import { statSync } from 'node:fs';
import { join } from 'node:path';
import { LonghandError } from '../../../protocol/index.ts';
import { readRegularSync } from '../../../store/folder/open-regular.ts';

//  The small files beside the weights. Their size in memory is estimated before parsing: a few megabytes of "[],[],[]"
//  become hundreds as values.

/** That of Qwen3, the largest of the tests (151,643 tokens, 151,387 merges), has 11.4 MB, 606,054 values and 5 levels; one with
 *  248,320 tokens has about two thirds more. */
const MAX_BYTES = 48 * 1024 * 1024;
const MAX_VALUES = 2_500_000;
/** Maximum number of fields: an object with two million takes half a gigabyte. */
const MAX_NAMES = 1_000_000;
const MAX_DEPTH = 200;
/** Templates in the tests have up to 3,366 characters; more than a million are refused when rendered. */
const MAX_TEXT = 4 * 1024 * 1024;

export const brokenFile = (name: string, reason: string, cause?: unknown) =>
  new LonghandError('model-broken', `[${name}] ${reason}`, cause === undefined ? {} : { cause });

/** The text of a file; undefined when it is not there. @throws LonghandError `model-broken`, naming the file */
export function readModelText(folder: string, name: string): string | undefined {
  return read(folder, name, MAX_TEXT)?.toString('utf8');
}

/** The parsed JSON of a file; undefined if there is none. @throws LonghandError `model-broken`, naming the file */
export function readModelJson(folder: string, name: string): unknown {
  const bytes = read(folder, name, MAX_BYTES);
  if (bytes === undefined) return undefined;
  demandModest(name, bytes);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw brokenFile(name, `is not JSON: ${error instanceof Error ? error.message : error}`, error);
  }
}

function read(folder: string, name: string, most: number): Buffer | undefined {
  const path = join(folder, name);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return readRegularSync(path, most);
  } catch (error) {
    throw brokenFile(name, error instanceof Error ? error.message : String(error), error);
  }
}

const [QUOTE, ESCAPE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from('"\\,:[]{}');

/** Counts values and nesting depth from the punctuation outside strings. */
function demandModest(name: string, bytes: Buffer): void {
  let values = 0;
  let names = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; ++at) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) values++;
    else if (byte === COLON) names++;
    else if (byte === OPEN || byte === OPEN_LIST) {
      values++;
      if (++depth > MAX_DEPTH) throw brokenFile(name, `is deeper than ${MAX_DEPTH} levels, which is the limit`);
    } else if (byte === CLOSE || byte === CLOSE_LIST) depth--;
  }
  if (names > MAX_NAMES) throw brokenFile(name, `has ${names} fields, at most ${MAX_NAMES} are allowed`);
  if (values > MAX_VALUES) throw brokenFile(name, `has ${values} values, at most ${MAX_VALUES} are allowed`);
}

function endOfText(bytes: Buffer, begin: number): number {
  for (let end = bytes.indexOf('"', begin + 1); end >= 0; end = bytes.indexOf('"', end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === ESCAPE) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}
