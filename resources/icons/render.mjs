// Draws longhand.svg in all sizes, and what stands in menu bars (../tray): node resources/icons/render.mjs (needs Chromium; the pictures are in the tree).
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';

const folder = import.meta.dirname;
/** A Mac colours the loop alone; others show the icon of the app. */
const tray = {
  'template.png': ['tray.svg', 18],
  'template@2x.png': ['tray.svg', 36],
  'icon.png': ['longhand.svg', 32],
  'icon@2x.png': ['longhand.svg', 64],
};
const sizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];

async function draw(svg, sizes) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const page = await browser.newPage();
  const pictures = new Map();
  for (const size of sizes) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(
      `<style>html,body{margin:0;background:transparent}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`,
    );
    pictures.set(size, await page.screenshot({ omitBackground: true, type: 'png' }));
  }
  await browser.close();
  return pictures;
}

/** macOS: every entry is its type, its length with these eight bytes, and a PNG. */
function icns(pictures) {
  const types = [
    ['icp4', 16],
    ['icp5', 32],
    ['ic07', 128],
    ['ic08', 256],
    ['ic09', 512],
    ['ic10', 1024],
    ['ic11', 32],
    ['ic12', 64],
    ['ic13', 256],
    ['ic14', 512],
  ];
  const entries = types.map(([type, size]) => {
    const head = Buffer.alloc(8, type, 'latin1');
    head.writeUInt32BE(pictures.get(size).length + 8, 4);
    return Buffer.concat([head, pictures.get(size)]);
  });
  const head = Buffer.alloc(8, 'icns', 'latin1');
  head.writeUInt32BE(
    entries.reduce((sum, entry) => sum + entry.length, 8),
    4,
  );
  return Buffer.concat([head, ...entries]);
}

/** Windows: a directory of PNGs. */
function ico(pictures) {
  const chosen = [16, 24, 32, 48, 64, 128, 256];
  const head = Buffer.alloc(6 + 16 * chosen.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(chosen.length, 4);
  let offset = head.length;
  chosen.forEach((size, index) => {
    const at = 6 + 16 * index;
    head.writeUInt8(size % 256, at);
    head.writeUInt8(size % 256, at + 1);
    head.writeUInt16LE(1, at + 4);
    head.writeUInt16LE(32, at + 6);
    head.writeUInt32LE(pictures.get(size).length, at + 8);
    head.writeUInt32LE(offset, at + 12);
    offset += pictures.get(size).length;
  });
  return Buffer.concat([head, ...chosen.map((size) => pictures.get(size))]);
}

const read = (name) => readFile(join(folder, name), 'utf8');
for (const [file, [svg, size]] of Object.entries(tray)) {
  const drawn = await draw(await read(svg), [size]);
  await writeFile(join(folder, '..', 'tray', file), drawn.get(size));
}
const pictures = await draw(await read('longhand.svg'), sizes);
for (const [size, picture] of pictures) await writeFile(join(folder, `${size}x${size}.png`), picture);
await writeFile(join(folder, 'icon.icns'), icns(pictures));
await writeFile(join(folder, 'icon.ico'), ico(pictures));
