import { readFile } from 'node:fs/promises';
import { LonghandError } from '../../../protocol/errors.ts';
import type { DocumentMetadata, Sink, Source } from '../../element.ts';
import type { Tools } from '../assets.ts';
import { createRecogniser } from '../ocr.ts';
import { createFlow } from '../pdf/flow.ts';
import { layOut } from '../pdf/layout.ts';
import { segmentOfLine } from '../pdf/lines.ts';
import { piecesOf } from '../pdf/paragraphs.ts';

const MAX_BYTES = 128 * 1024 * 1024;
const MAX_PIXELS = 120e6;

/** A picture is one page; rectangles are in pixels. */
export async function readImage(source: Source, sink: Sink, tools: Tools): Promise<DocumentMetadata> {
  if (source.bytes > MAX_BYTES) throw tooLarge(source, `${source.bytes} bytes`);
  const picture = await readFile(source.path);
  const { width, height } = sizeOf(picture);
  if (width * height > MAX_PIXELS) throw tooLarge(source, `${width} × ${height} pixels`);
  const recogniser = createRecogniser(tools);
  try {
    sink.progress('ocr', 0, 1);
    const { lines, confidence } = await recogniser.lines(picture, 1);
    const flow = createFlow();
    const pieces = [...flow.add(piecesOf(layOut(lines.flatMap(segmentOfLine)), 1)), ...flow.end()];
    for (const piece of pieces) await sink.add(piece);
    if (lines.length > 0 && confidence < 60) sink.notice('picture-uncertain');
    sink.progress('ocr', 1, 1);
  } finally {
    await recogniser.close();
  }
  return { title: null, pages: 1 };
}

const tooLarge = ({ fileName }: Source, size: string) =>
  new LonghandError('too-large', `[documents] the picture ${fileName} has ${size}, too many to be read`);

/** The size in the file header. */
function sizeOf(bytes: Buffer): { width: number; height: number } {
  if (bytes.length > 24 && bytes.toString('latin1', 1, 4) === 'PNG') {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  const start = bytes.toString('latin1', 0, 64);
  if (start.startsWith('BM') && bytes.length > 26) {
    return { width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) };
  }
  if (start.startsWith('RIFF') && bytes.length > 30) return sizeOfWebP(bytes, start.slice(12, 16));
  const plain = start.match(/^P[1-6](?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+)/);
  if (plain) return { width: Number(plain[1]), height: Number(plain[2]) };
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return { width: 0, height: 0 };
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    const frame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (frame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return { width: 0, height: 0 };
}

/** Lossy, lossless and extended (VP8X) WebP. */
function sizeOfWebP(bytes: Buffer, kind: string): { width: number; height: number } {
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (kind === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  return kind === 'VP8X'
    ? { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    : { width: 0, height: 0 };
}
