import {
  GlobalWorkerOptions,
  getDocument,
  PasswordResponses,
  PDFDataRangeTransport,
  type PDFDocumentLoadingTask,
  type PDFDocumentProxy,
  PDFWorker,
} from 'pdfjs-dist';
import workerAddress from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import type { DocumentId } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { readBytes } from './bytes.ts';

//  The one file that starts pdf.js. Everything it needs is served with the page (see vite.config.ts): no other host is
//  contacted, and no script of a document is run.

GlobalWorkerOptions.workerSrc = workerAddress;

const beside = (folder: string) => new URL(`pdfjs/${folder}/`, document.baseURI).href;

/** The first read covers the header and, in most files, the first page. */
const FIRST = 1 << 16;
const RANGE = 1 << 18;

class Ranges extends PDFDataRangeTransport {
  readonly documentId: DocumentId;
  readonly onProblem: (error: unknown) => void;
  constructor(documentId: DocumentId, total: number, first: Uint8Array, onProblem: (error: unknown) => void) {
    super(total, first);
    this.documentId = documentId;
    this.onProblem = onProblem;
  }
  override requestDataRange(begin: number, end: number): void {
    readBytes(this.documentId, begin, end)
      .then(({ bytes }) => this.onDataRange(begin, bytes))
      .catch(this.onProblem);
  }
}

/** One worker per document, so that one hanging on a damaged file does not block others. The next is started in advance, since
 *  starting takes longer than drawing a page. */
let spare: PDFWorker | null = startWorker();
const AFTER_MS = 1000;

function startWorker(): PDFWorker {
  const worker = new PDFWorker();
  // Rejected when a document is closed before its worker has started: nobody waits for it any more.
  worker.promise.catch(() => {});
  return worker;
}

function takeWorker(): PDFWorker {
  const worker = spare ?? startWorker();
  spare = null;
  setTimeout(() => {
    spare ??= startWorker();
  }, AFTER_MS);
  return worker;
}

export type Opening = {
  pdf: Promise<PDFDocumentProxy>;
  /** Aborts loading, or closes the document. */
  close(): void;
};

/** Called until the file opens; `wrong`: the previous password was wrong. */
type AskPassword = (answer: (password: string) => void, wrong: boolean) => void;

//  nothing ──pointer near, answer finished──▶ ahead ──wanted──▶ the viewer's
//                                               └──another one, changed, 30 s──▶ closed
type Ahead = { documentId: DocumentId; opening: Opening; hand: (ask: AskPassword) => void; timer: number };
let ahead: Ahead | null = null;
const AHEAD_MS = 30_000;

function forget(): void {
  if (!ahead) return;
  clearTimeout(ahead.timer);
  ahead = null;
}

function closeAhead(): void {
  const { opening } = ahead ?? {};
  forget();
  opening?.close();
}

core.on('document.changed', ({ id }) => {
  if (ahead?.documentId === id) closeAhead();
});

/** Opens a document in advance, so that only its page has to be drawn later. One at a time. */
export function openAhead(documentId: DocumentId): void {
  if (ahead?.documentId === documentId) return;
  closeAhead();
  let ask: AskPassword | null = null;
  let asked: Parameters<AskPassword> | null = null;
  const opening = open(documentId, (...question) => {
    if (ask) ask(...question);
    else asked = question;
  });
  const hand = (to: AskPassword) => {
    ask = to;
    if (asked) to(...asked);
  };
  const mine: Ahead = { documentId, opening, hand, timer: window.setTimeout(closeAhead, AHEAD_MS) };
  ahead = mine;
  // The failure is reported when the document is opened, by another attempt.
  opening.pdf
    .then(
      (pdf) => pdf.getPage(1),
      () => {
        if (ahead === mine) closeAhead();
      },
    )
    .catch(() => {});
}

/** Opens a document range by range; one opened in advance is ready at once.
 *  @throws LonghandError of `documents.bytes`; pdf.js's own errors for a damaged file */
export function openPdf(documentId: DocumentId, onPassword: AskPassword): Opening {
  if (ahead?.documentId !== documentId) return open(documentId, onPassword);
  const { opening, hand } = ahead;
  forget();
  hand(onPassword);
  return opening;
}

function open(documentId: DocumentId, onPassword: AskPassword): Opening {
  let task: PDFDocumentLoadingTask | null = null;
  const worker = takeWorker();
  let closed = false;
  const { promise: problem, reject } = Promise.withResolvers<never>();
  problem.catch(() => {});
  const load = async () => {
    const { bytes, total } = await readBytes(documentId, 0, FIRST);
    if (closed) throw new Error('[pdf] closed before it was open');
    task = getDocument({
      worker,
      range: new Ranges(documentId, total, bytes, reject),
      rangeChunkSize: RANGE,
      disableAutoFetch: true,
      disableStream: true,
      cMapUrl: beside('cmaps'),
      standardFontDataUrl: beside('standard_fonts'),
      // A PDF that does not embed its Helvetica is drawn with the fonts that pdf.js brings: what the system has instead
      // differs in width, and its letters would be squeezed into the places of the others.
      useSystemFonts: false,
      wasmUrl: beside('wasm'),
      iccUrl: beside('iccs'),
      disableWorkerRendering: true,
      verbosity: 0,
    });
    task.onPassword = (answer: (password: string) => void, reason: number) =>
      onPassword(answer, reason === PasswordResponses.INCORRECT_PASSWORD);
    return task.promise;
  };
  return {
    pdf: Promise.race([load(), problem]),
    close() {
      closed = true;
      // Rejected where the worker has ended meanwhile and does not answer.
      const ended = task?.destroy() ?? Promise.resolve();
      void ended.catch(() => {}).finally(() => worker.destroy());
    },
  };
}
