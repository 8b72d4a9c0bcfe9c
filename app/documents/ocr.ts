import { createWorker, OEM, type Page, type Worker } from 'tesseract.js';
import { LonghandError } from '../protocol/errors.ts';
import type { Assets } from './assets.ts';
import type { PageWord } from './pdf/words.ts';

//  Texts in pictures, by Tesseract in a thread of its own; the data of its language comes from a package, nothing is fetched.

export type Recogniser = {
  /** Lines of words of a picture, in its pixels times `scale`. @throws LonghandError `unreadable` */
  lines(picture: Uint8Array, scale: number): Promise<{ lines: PageWord[][]; confidence: number }>;
  close(): Promise<void>;
};

/** Of a hundred; below it a word is more likely dirt than text. */
const LEAST_CONFIDENCE = 30;

export function createRecogniser(assets: Assets): Recogniser {
  let starting: Promise<Worker> | null = null;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const start = () =>
    createWorker('eng', OEM.LSTM_ONLY, {
      langPath: assets.languages,
      cacheMethod: 'none',
      gzip: true,
      errorHandler: (error: unknown) => failed.reject(unreadable(error)),
    });
  return {
    async lines(picture, scale) {
      starting ??= start();
      const worker = await Promise.race([starting, failed.promise]);
      const work = worker.recognize(Buffer.from(picture), {}, { text: false, blocks: true });
      const { data } = await Promise.race([work, failed.promise]).catch((error) => {
        throw unreadable(error);
      });
      return { lines: linesOf(data, scale), confidence: data.confidence };
    },
    async close() {
      const worker = await starting?.catch(() => null);
      await worker?.terminate();
    },
  };
}

const unreadable = (error: unknown) =>
  error instanceof LonghandError
    ? error
    : new LonghandError(
        'unreadable',
        `[ocr] the picture cannot be read: ${error instanceof Error ? error.message : error}`,
      );

const FONT = { name: '', bold: false, mapped: true };

function linesOf(page: Page, scale: number): PageWord[][] {
  const lines = (page.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
  const found = lines.map((line) => {
    const size = (line.bbox.y1 - line.bbox.y0) * scale * 0.8;
    return line.words
      .filter(({ confidence, text }) => confidence >= LEAST_CONFIDENCE && text.trim() !== '')
      .map(({ text, bbox }): PageWord => {
        const [left, top, right, bottom] = [bbox.x0, bbox.y0, bbox.x1, bbox.y1].map((value) => value * scale) as [
          number,
          number,
          number,
          number,
        ];
        const box: PageWord['box'] = [left, top, right - left, bottom - top];
        // Of the whole line: descenders of a word move its box and not the line.
        const baseline = line.bbox.y1 * scale - size * 0.2;
        return {
          text: text.trim(),
          spaced: true,
          left,
          top,
          right,
          bottom,
          baseline,
          size,
          tracking: 0,
          font: FONT,
          box,
        };
      });
  });
  return found.filter((words) => words.length > 0);
}
