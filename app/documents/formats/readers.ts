import type { DocumentKind } from '../../protocol/documents.ts';
import { LonghandError } from '../../protocol/errors.ts';
import type { Assets } from '../assets.ts';
import { readPdf } from '../pdf/read.ts';
import type { Facts, Sink, Source } from '../piece.ts';
import { readMarkdown } from './markdown.ts';
import { readCode, readJson, readPlainText } from './text.ts';

type Reader = (source: Source, sink: Sink, assets: Assets) => Promise<Facts>;

const readers: Partial<Record<DocumentKind, Reader>> = {
  pdf: readPdf,
  markdown: readMarkdown,
  text: readPlainText,
  code: readCode,
  json: readJson,
};

/** @throws LonghandError `unreadable` */
export function readerOf(kind: DocumentKind): Reader {
  const reader = readers[kind];
  if (!reader) throw new LonghandError('unreadable', `[documents] files of the kind ${kind} cannot be read`);
  return reader;
}
