import { createWorker, OEM, type Page, type Worker } from 'tesseract.js';
import type { RecognisedLine } from '../../engine/ipc-protocol.ts';
import { LonghandError } from '../../protocol/errors.ts';
import type { Tools } from './assets.ts';
import type { PageWord } from './pdf/words.ts';

//  OCR: by the system if it can (macOS, Vision), or else by Tesseract in a thread of its own; its language
//  data comes from a package, nothing is downloaded.

export type Recogniser = {
  /** @throws LonghandError `unreadable` */
  lines(picture: Uint8Array, scale: number): Promise<Recognised>;
  close(): Promise<void>;
};

/** Recognised lines; coordinates in pixels times `scale`. `confidence`: 0 to 100. */
export type Recognised = {
  lines: PageWord[][];
  confidence: number;
  by: 'system' | 'tesseract';
};

/** Below this (of 100), a word is more likely noise than text. */
const LEAST_CONFIDENCE = 30;

export function createRecogniser(tools: Tools): Recogniser {
  let starting: Promise<Worker> | null = null;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const start = () =>
    createWorker('eng', OEM.LSTM_ONLY, {
      langPath: tools.languages,
      cacheMethod: 'none',
      gzip: true,
      errorHandler: (error: unknown) => failed.reject(unreadable(error)),
    });
  return {
    async lines(picture, scale) {
      const seen = await tools.recognise?.(picture);
      if (seen) return ofSystem(seen, scale);
      starting ??= start();
      const worker = await Promise.race([starting, failed.promise]);
      const work = worker.recognize(Buffer.from(picture), {}, { text: false, blocks: true });
      const { data } = await Promise.race([work, failed.promise]).catch((error) => {
        throw unreadable(error);
      });
      return {
        lines: linesOf(data, scale),
        confidence: data.confidence,
        by: 'tesseract',
      };
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

/** The shares of a line's box above and below the baseline. */
const LETTERS = 0.8;
const BELOW = 0.2;

type Box = { left: number; top: number; right: number; bottom: number };

/** All words of a line share one size and baseline: descenders extend a word's box, but do not move its baseline. */
function wordOf(text: string, spaced: boolean, box: Box, line: Box, scale: number): PageWord {
  const [left, top, right, bottom] = [box.left * scale, box.top * scale, box.right * scale, box.bottom * scale];
  const size = (line.bottom - line.top) * scale * LETTERS;
  const baseline = line.bottom * scale - size * BELOW;
  const place: PageWord['box'] = [left, top, right - left, bottom - top];
  return {
    text: text.trim(),
    spaced,
    left,
    top,
    right,
    bottom,
    baseline,
    size,
    tracking: 0,
    font: FONT,
    box: place,
  };
}

const boxOf = ({ x0, y0, x1, y1 }: { x0: number; y0: number; x1: number; y1: number }): Box => ({
  left: x0,
  top: y0,
  right: x1,
  bottom: y1,
});

function linesOf(page: Page, scale: number): PageWord[][] {
  const lines = (page.blocks ?? []).flatMap(({ paragraphs }) => paragraphs.flatMap((paragraph) => paragraph.lines));
  const found = lines.map((line) =>
    line.words
      .filter(({ confidence, text }) => confidence >= LEAST_CONFIDENCE && text.trim() !== '')
      .map(({ text, bbox }) => wordOf(text, true, boxOf(bbox), boxOf(line.bbox), scale)),
  );
  return found.filter((words) => words.length > 0);
}

function ofSystem(seen: readonly RecognisedLine[], scale: number): Recognised {
  const sure = seen.filter(({ confidence, words }) => confidence * 100 >= LEAST_CONFIDENCE && words.length > 0);
  const lines = sure.map(({ box, words }) =>
    words.filter(({ text }) => text.trim() !== '').map((word) => wordOf(word.text, word.spaced, word.box, box, scale)),
  );
  const confidence = sure.reduce((sum, line) => sum + line.confidence, 0) / Math.max(1, sure.length);
  return { lines, confidence: confidence * 100, by: 'system' };
}
