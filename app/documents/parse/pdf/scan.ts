import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { Source } from '../../element.ts';
import type { Tools } from '../assets.ts';
import { createRecogniser, type Recognised } from '../ocr.ts';
import { openPdf, type Pdf } from './open.ts';

//  Renders image-only pages for OCR. The file is opened a second time, with images.

export type Scanner = {
  lines(page: number): Promise<Pick<Recognised, 'lines' | 'by'>>;
  /** Whether the page draws anything. */
  draws(page: number): Promise<boolean>;
  close(): Promise<void>;
};

/** A usual scanner resolution. */
const DOTS_PER_INCH = 200;
const MAX_PIXELS = 16e6;

type Drawing = Parameters<PDFPageProxy['render']>[0];
/** As @napi-rs/canvas makes it, which pdf.js draws on in Node. */
type CanvasFactory = {
  create(width: number, height: number): Drawn;
  destroy(drawn: Drawn): void;
};
type Drawn = {
  canvas: NonNullable<Drawing['canvas']> & { toBuffer(type: 'image/png'): Uint8Array };
  context: NonNullable<Drawing['canvasContext']>;
};

export function createScanner(source: Source, tools: Tools): Scanner {
  const recogniser = createRecogniser(tools);
  let opening: Promise<Pdf> | null = null;
  const open = () => (opening ??= openPdf(source, tools, { pictures: true }));
  return {
    async draws(number) {
      const { page } = await (await open()).page(number);
      const { fnArray } = await page.getOperatorList();
      page.cleanup();
      return fnArray.length > 0;
    },
    async lines(number) {
      const { page, pdf } = await (await open()).page(number);
      const { width, height } = page.getViewport({ scale: 1 });
      const scale = Math.min(DOTS_PER_INCH / 72, Math.sqrt(MAX_PIXELS / (width * height)));
      const viewport = page.getViewport({ scale });
      const factory = pdf.canvasFactory as CanvasFactory;
      const drawn = factory.create(Math.ceil(viewport.width), Math.ceil(viewport.height));
      try {
        await page.render({ canvas: drawn.canvas, canvasContext: drawn.context, viewport }).promise;
        return await recogniser.lines(drawn.canvas.toBuffer('image/png'), 1 / scale);
      } finally {
        factory.destroy(drawn);
        page.cleanup();
      }
    },
    async close() {
      await recogniser.close();
      const pdf = await opening?.catch(() => null);
      await pdf?.close();
    },
  };
}
