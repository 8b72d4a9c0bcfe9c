import { LonghandError } from '../../../protocol/errors.ts';
import type { DocumentMetadata, Sink, Source } from '../../element.ts';
import type { Tools } from '../assets.ts';
import { createFlow } from './flow.ts';
import { MAX_GLYPHS, readGlyphs } from './glyphs.ts';
import { layOut } from './layout.ts';
import { type Segment, segmentOfLine, segmentsOf } from './lines.ts';
import { createMargins } from './margins.ts';
import { openPdf, type Pdf } from './open.ts';
import { piecesOf } from './paragraphs.ts';
import { createScanner, type Scanner } from './scan.ts';
import { type PageWord, type Turn, wordsOf } from './words.ts';

export const MAX_PAGES = 10_000;

/** PDF, page by page: the resources of a page are released before the next. */
export async function readPdf(source: Source, sink: Sink, tools: Tools): Promise<DocumentMetadata> {
  const pdf = await openPdf(source, tools);
  const scanner = createScanner(source, tools);
  try {
    return await readPages(pdf, source, sink, scanner);
  } finally {
    await scanner.close();
    await pdf.close();
  }
}

type Rest = { page: number; others: Segment[][] };

async function readPages(pdf: Pdf, source: Source, sink: Sink, scanner: Scanner): Promise<DocumentMetadata> {
  const total = Math.min(pdf.numPages, MAX_PAGES);
  if (pdf.numPages > total) sink.notice('pages-cut', { limit: total, pages: pdf.numPages });
  const margins = createMargins<Rest>();
  const flow = createFlow();
  const silent: number[] = [];
  const broken: number[] = [];
  const recognised: number[] = [];
  let english = false;
  const place = async (pages: ReturnType<typeof margins.end>) => {
    for (const { segments, rest } of pages) {
      const regions = [segments, ...rest.others].flatMap((one) => layOut(one));
      for (const piece of flow.add(piecesOf(regions, rest.page))) await sink.add(piece);
    }
  };
  for (let number = 1; number <= total; number++) {
    let page = await readPage(pdf, number).catch(() => null);
    if (page?.blank && (await scanner.draws(number).catch(() => false))) page = { ...page, silent: true };
    if (page?.silent && source.ocr) {
      const { lines, by } = await scanner.lines(number);
      if (by === 'tesseract') english = true;
      page = { ...page, ...scanned(lines, number), silent: lines.length === 0 };
      recognised.push(number);
    }
    if (page?.cut) sink.notice('page-cut', { limit: MAX_GLYPHS, page: number });
    if (!page) broken.push(number);
    // If OCR finds nothing either, the page is empty.
    else if (page.silent && !source.ocr) silent.push(number);
    await place(margins.add(page ?? { height: 0, segments: [], rest: { page: number, others: [] } }));
    sink.progress(recognised.length > 0 ? 'ocr' : 'file', number, total);
  }
  await place(margins.end());
  for (const piece of flow.end()) await sink.add(piece);
  if (silent.length + broken.length === total && total > 0) throw unread(source, silent.length, broken.length);
  if (broken.length > 0) sink.notice('pages-broken', pagesOf(broken));
  if (recognised.length > 0)
    sink.notice(english ? 'pages-recognised-english' : 'pages-recognised', pagesOf(recognised));
  if (silent.length > 0) sink.notice('pages-silent', pagesOf(silent));
  const title = await pdf.title();
  return { title: typeof title === 'string' ? title : null, pages: pdf.numPages };
}

const scanned = (lines: readonly PageWord[][], page: number) => ({
  segments: lines.flatMap(segmentOfLine),
  rest: { page, others: [] },
});

async function readPage(pdf: Pdf, number: number) {
  const { page } = await pdf.page(number);
  const { width, height } = page.getViewport({ scale: 1 });
  const { glyphs, draws, cut } = await readGlyphs(page);
  page.cleanup();
  const known = glyphs.filter(({ font }) => font.mapped);
  const words = wordsOf(known, { width, height });
  const turns = [...words.keys()].sort((a, b) => (words.get(b)?.length ?? 0) - (words.get(a)?.length ?? 0));
  const segments = (turn: Turn) => segmentsOf(words.get(turn) ?? []);
  const [main = 0, ...others] = turns;
  const frameHeight = main % 2 === 0 ? height : width;
  return {
    height: frameHeight,
    segments: segments(main),
    rest: { page: number, others: others.map(segments) },
    // No text although something is drawn.
    silent: known.length < 4 && draws,
    // Images are not decoded here, and may be all there is.
    blank: glyphs.length === 0 && !draws,
    cut,
  };
}

function unread({ fileName }: Source, silent: number, broken: number): LonghandError {
  if (broken > silent) return new LonghandError('unreadable', `[documents] no page of ${fileName} could be read`);
  return new LonghandError(
    'unreadable',
    `[documents] ${fileName} has no text on its ${silent} pages, only pictures of it`,
    { details: { remedy: 'ocr' } },
  );
}

const pagesOf = (pages: readonly number[]) => ({
  count: pages.length,
  pages: `${pages.slice(0, 5).join(', ')}${pages.length > 5 ? ', …' : ''}`,
});
