import type { DocumentKind } from '../../../protocol/documents.ts';
import type { DocumentMetadata, Sink, Source } from '../../element.ts';
import type { Tools } from '../assets.ts';

type Reader = (source: Source, sink: Sink, tools: Tools) => Promise<DocumentMetadata>;

/** Parsers are loaded with the first file of their type, so that plain text does not wait for a PDF library. */
const loaders: Record<DocumentKind, () => Promise<Reader>> = {
  pdf: async () => (await import('../pdf/read.ts')).readPdf,
  docx: async () => (await import('./docx.ts')).readDocx,
  xlsx: async () => (await import('./xlsx.ts')).readXlsx,
  pptx: async () => (await import('./pptx.ts')).readPptx,
  epub: async () => (await import('./epub.ts')).readEpub,
  html: async () => (await import('./html.ts')).readHtml,
  markdown: async () => (await import('./markdown.ts')).readMarkdown,
  text: async () => (await import('./text.ts')).readPlainText,
  csv: async () => (await import('./csv.ts')).readCsv,
  json: async () => (await import('./text.ts')).readJson,
  code: async () => (await import('./text.ts')).readCode,
  email: async () => (await import('./email.ts')).readEmail,
  image: async () => (await import('./image.ts')).readImage,
};

export const readerOf = (kind: DocumentKind): Promise<Reader> => loaders[kind]();
