import { readFile } from 'node:fs/promises';
import chardet from 'chardet';
import { LonghandError } from '../../../protocol/errors.ts';
import type { Sink, Source } from '../../element.ts';

/** Longer texts are cut off: their words would drown the others. */
const MAX_BYTES = 64 * 1024 * 1024;
const HEAD = 64 * 1024;

/** The text of a file in whatever encoding it has; line ends become "\n". Adds a notice if the encoding was guessed.
 *  @throws LonghandError `unreadable` if it is not text, `too-large` */
export async function readText(source: Source, sink: Sink): Promise<string> {
  if (source.bytes > MAX_BYTES) {
    throw new LonghandError(
      'too-large',
      `[documents] ${source.fileName} has ${source.bytes} bytes, at most ${MAX_BYTES} are read as text`,
    );
  }
  return decodeText(await readFile(source.path), source.fileName, sink);
}

export function decodeText(bytes: Uint8Array, fileName: string, sink: Sink): string {
  const { text, guessed } = decoded(bytes);
  // Bytes that never occur in text: a program, an archive, a picture.
  if (/\0/.test(text.slice(0, HEAD))) throw new LonghandError('unreadable', `[documents] ${fileName} is not a text`);
  if (guessed) sink.notice('encoding-guessed', { encoding: guessed });
  return text.replace(/\r\n?/g, '\n');
}

function decoded(bytes: Uint8Array): { text: string; guessed: string | null } {
  const marked = markOf(bytes);
  if (marked) return { text: new TextDecoder(marked).decode(bytes), guessed: null };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), guessed: null };
  } catch {
    const guessed = bareUtf16(bytes) ?? legacy(bytes);
    return { text: new TextDecoder(guessed).decode(bytes), guessed };
  }
}

function markOf([a, b, c]: Uint8Array): string | null {
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return a === 0xef && b === 0xbb && c === 0xbf ? 'utf-8' : null;
}

/** Detects UTF-16 without a byte order mark: Western text has a zero in every other byte. */
function bareUtf16(bytes: Uint8Array): string | null {
  const head = bytes.subarray(0, HEAD);
  const zeros = [0, 0];
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > head.length / 8 && even < odd / 8) return 'utf-16le';
  return even > head.length / 8 && odd < even / 8 ? 'utf-16be' : null;
}

function legacy(bytes: Uint8Array): string {
  const guess = chardet.detect(bytes.subarray(0, HEAD)) ?? '';
  try {
    return new TextDecoder(guess).encoding;
  } catch {
    return 'windows-1252'; // accepts any bytes
  }
}
