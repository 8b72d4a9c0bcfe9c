import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RecognisedLine } from '../../engine/ipc-protocol.ts';

/** Files of packages that are read while documents are: wherever the packages are installed. */
export type Assets = {
  cMaps: string;
  standardFonts: string;
  pdfWasm: string;
  /** Data of Tesseract's languages. */
  languages: string;
};

/** What reads pictures in the place of Tesseract, where the system can; null for a picture that it cannot. */
export type SystemRecogniser = (picture: Uint8Array) => Promise<readonly RecognisedLine[] | null>;

/** What readers work with beside the file. */
export type Tools = Assets & { recognise: SystemRecogniser | null };

export function findAssets(): Assets {
  const folderOf = (name: string) => dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
  const pdfjs = folderOf('pdfjs-dist');
  return {
    cMaps: join(pdfjs, 'cmaps/'),
    standardFonts: join(pdfjs, 'standard_fonts/'),
    pdfWasm: join(pdfjs, 'wasm/'),
    languages: join(folderOf('@tesseract.js-data/eng'), '4.0.0_best_int'),
  };
}
