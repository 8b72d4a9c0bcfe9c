import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

//  A page as drawn by another program.

/** A picture in shades of grey, 0 (black) to 255, row by row. */
export type Greys = { width: number; height: number; pixels: ArrayLike<number> };

export const hasPoppler = (): boolean => spawnSync('pdftoppm', ['-v']).status === 0;

/** Replacements for the fonts that a PDF may leave out, independent of what this machine has installed. */
const FAMILIES = { Helvetica: 'Liberation Sans', Times: 'Chrom Serif OTF', Courier: 'Chrom Fixed OTF' };
const fonts = join(dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json'))), 'standard_fonts');

const fontconfig = (cache: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${fonts}</dir>
  <cachedir>${cache}</cachedir>
  ${Object.entries(FAMILIES)
    .map(
      ([name, own]) => `<alias binding="same"><family>${name}</family><prefer><family>${own}</family></prefer></alias>`,
    )
    .join('\n  ')}
</fontconfig>`;

/** The first page, `width` pixels wide and `height` high, drawn by pdftoppm. */
export function drawnByPoppler(pdf: Buffer, width: number, height: number): Greys {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-poppler-'));
  try {
    const config = join(folder, 'fonts.conf');
    writeFileSync(config, fontconfig(join(folder, 'cache')));
    writeFileSync(join(folder, 'page.pdf'), pdf);
    const size = ['-scale-to-x', String(width), '-scale-to-y', String(height)];
    execFileSync('pdftoppm', ['-gray', '-singlefile', ...size, join(folder, 'page.pdf'), join(folder, 'page')], {
      env: { ...process.env, FONTCONFIG_FILE: config },
    });
    return greysOf(readFileSync(join(folder, 'page.pgm')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** PGM: "P5 width height 255", one white space, the pixels. */
function greysOf(file: Buffer): Greys {
  const header = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(file.subarray(0, 64).toString('latin1'));
  if (!header) throw new Error('[poppler] no PGM file');
  return { width: Number(header[1]), height: Number(header[2]), pixels: file.subarray(header[0].length) };
}

const INK = 128;

/** The share of the ink of `one` that has ink of `other` within one pixel. */
export function inkCovered(one: Greys, other: Greys): number {
  const inked = ({ width, height, pixels }: Greys, x: number, y: number) =>
    x >= 0 && y >= 0 && x < width && y < height && (pixels[y * width + x] ?? 255) < INK;
  let ink = 0;
  let covered = 0;
  for (let y = 0; y < one.height; y += 1) {
    for (let x = 0; x < one.width; x += 1) {
      if (!inked(one, x, y)) continue;
      ink += 1;
      if ([-1, 0, 1].some((dy) => [-1, 0, 1].some((dx) => inked(other, x + dx, y + dy)))) covered += 1;
    }
  }
  return ink === 0 ? 0 : covered / ink;
}
