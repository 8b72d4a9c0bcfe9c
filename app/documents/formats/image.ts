import { readFile } from 'node:fs/promises';
import { LonghandError } from '../../protocol/errors.ts';
import type { Tools } from '../assets.ts';
import { createRecogniser } from '../ocr.ts';
import { createFlow } from '../pdf/flow.ts';
import { layOut } from '../pdf/layout.ts';
import { segmentOfLine } from '../pdf/lines.ts';
import { piecesOf } from '../pdf/paragraphs.ts';
import type { Facts, Sink, Source } from '../piece.ts';

const MOST_BYTES = 128 * 1024 * 1024;
const MOST_PIXELS = 120e6;

/** A picture is a page; its rectangles are in pixels. */
export async function readImage(source: Source, sink: Sink, tools: Tools): Promise<Facts> {
  if (source.bytes > MOST_BYTES) throw tooLarge(source, `${source.bytes} bytes`);
  const picture = await readFile(source.path);
  const { width, height } = sizeOf(picture);
  if (width * height > MOST_PIXELS) throw tooLarge(source, `${width} × ${height} pixels`);
  const recogniser = createRecogniser(tools);
  try {
    sink.progress('ocr', 0, 1);
    const { lines, confidence } = await recogniser.lines(picture, 1);
    const flow = createFlow();
    const pieces = [...flow.add(piecesOf(layOut(lines.flatMap(segmentOfLine)), 1)), ...flow.end()];
    for (const piece of pieces) await sink.add(piece);
    if (lines.length > 0 && confidence < 60) sink.notice('The text was hard to recognise: expect mistakes.');
    sink.progress('ocr', 1, 1);
  } finally {
    await recogniser.close();
  }
  return { title: null, pages: 1 };
}

const tooLarge = ({ fileName }: Source, size: string) =>
  new LonghandError('too-large', `[documents] the picture ${fileName} has ${size}, too many to be read`);

/** What the head of a PNG or JPEG says; nothing of others, which are small by nature or fail in their decoder. */
function sizeOf(bytes: Buffer): { width: number; height: number } {
  if (bytes.length > 24 && bytes.toString('latin1', 1, 4) === 'PNG') {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return { width: 0, height: 0 };
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    const frame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (frame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return { width: 0, height: 0 };
}
