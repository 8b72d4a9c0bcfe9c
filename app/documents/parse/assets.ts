import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RecognisedLine } from '../../engine/ipc-protocol.ts';

/** Paths of package files needed for parsing, wherever the packages are installed. */
export type Assets = {
  cMaps: string;
  standardFonts: string;
  pdfWasm: string;
  /** Tesseract's language data. */
  languages: string;
};

/** The system's OCR, used instead of Tesseract if available; null for a picture it cannot read. */
export type SystemRecogniser = (picture: Uint8Array) => Promise<readonly RecognisedLine[] | null>;

/** What parsers need besides the file. */
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
