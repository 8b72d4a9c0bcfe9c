import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

//  What an X server without a screen would show: Xvfb keeps it in a file, as a dump of X11 (XWD: big-endian words, then colours,
//  then rows of blue, green, red and a byte that says nothing).

export type Screen = { png: Buffer; colours: number };

export function readScreen(file: string): Screen {
  const dump = readFileSync(file);
  const word = (at: number) => dump.readUInt32BE(at * 4);
  const [width, height, stride] = [word(4), word(5), word(12)];
  const begin = word(0) + word(19) * 12;
  const rows = Buffer.alloc(height * (1 + width * 3));
  const seen = new Set<number>();
  let at = 0;
  for (let y = 0; y < height; ++y) {
    // No filter.
    rows[at++] = 0;
    for (let x = 0; x < width; ++x) {
      const colour = dump.readUIntLE(begin + y * stride + x * 4, 3);
      seen.add(colour);
      at = rows.writeUIntBE(colour, at, 3);
    }
  }
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  // Eight bits of each of three colours.
  size.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk('IHDR', size), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))];
  return { png: Buffer.concat([signature, ...chunks]), colours: seen.size };
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
