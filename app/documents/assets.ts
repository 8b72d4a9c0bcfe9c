import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files of packages that are read while documents are: wherever the packages are installed. */
export type Assets = { cMaps: string; standardFonts: string; pdfWasm: string };

export function findAssets(): Assets {
  const pdfjs = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')));
  return {
    cMaps: join(pdfjs, 'cmaps/'),
    standardFonts: join(pdfjs, 'standard_fonts/'),
    pdfWasm: join(pdfjs, 'wasm/'),
  };
}
