import { extname } from 'node:path';
import type { DocumentKind } from '../../protocol/index.ts';

const ENDINGS: Record<DocumentKind, string> = {
  pdf: 'pdf',
  docx: 'docx docm dotx',
  xlsx: 'xlsx xlsm xltx',
  pptx: 'pptx pptm potx ppsx',
  epub: 'epub',
  html: 'html htm xhtml',
  markdown: 'md markdown mdown mkd mdx',
  text: 'txt text log rst adoc asc org tex srt vtt nfo 1 2 3 4 5 6 7 8',
  csv: 'csv tsv tab',
  json: 'json jsonl ndjson geojson ipynb',
  code:
    'c h cc cpp cxx hpp hh m mm metal cs java kt kts scala groovy swift go rs zig js mjs cjs jsx ts mts cts tsx vue svelte ' +
    'py pyi rb php pl pm lua r jl sh bash zsh fish ps1 bat sql css scss less xml xsl svg yaml yml toml ini cfg conf ' +
    'properties env cmake gradle make mk dockerfile proto graphql tf nix hs ml mli ex exs erl clj lisp el vim diff patch asm s',
  email: 'eml',
  image: 'png jpg jpeg webp bmp pbm pgm ppm',
};

const byEnding = new Map(
  Object.entries(ENDINGS).flatMap(([kind, list]) => list.split(' ').map((ending) => [ending, kind as DocumentKind])),
);
const NAMES = /^(readme|license|licence|copying|changelog|changes|authors|news|todo|notice|install)$/i;
const CODE_NAMES = /^(makefile|dockerfile|cmakelists\.txt|gemfile|rakefile|justfile)$/i;

/** The type of a file by its name; null: unknown. */
export function kindOf(fileName: string): DocumentKind | null {
  if (CODE_NAMES.test(fileName)) return 'code';
  if (NAMES.test(fileName)) return 'text';
  return byEnding.get(extname(fileName).slice(1).toLowerCase()) ?? null;
}

/** Types shown as pages instead of blocks. */
export const isPaged = (kind: DocumentKind) => kind === 'pdf' || kind === 'image';
