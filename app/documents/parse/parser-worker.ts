import { parentPort, workerData } from 'node:worker_threads';
import type { RecognisedLine } from '../../engine/ipc-protocol.ts';
import type { Block, DocumentKind, DocumentNotice, DocumentState } from '../../protocol/documents.ts';
import { type Failure, failureOf, LonghandError } from '../../protocol/errors.ts';
import type { NewPassage } from '../../store/documents/chunks.ts';
import { createChunker } from '../chunk/chunker.ts';
import { MAX_PIECE, portionsOf } from '../chunk/portions.ts';
import type { DocumentMetadata, Element, Sink, Source, Step } from '../element.ts';
import { findAssets, type Tools } from './assets.ts';
import { readerOf } from './formats/readers.ts';

//  Entry of the parser thread, which handles untrusted files. One document at a time; it waits if the
//  core is slower, so that unstored output stays small.

export type Remedy = Extract<DocumentState, { status: 'failed' }>['remedy'];
/** Options of the thread. `recognises`: the core provides OCR. */
export type ParserData = { recognises: boolean };
export type ToParser =
  | { read: Source; kind: DocumentKind }
  | { stored: true }
  | { recognised: readonly RecognisedLine[] | null };
export type FromParser =
  | { batch: { blocks: Block[]; passages: NewPassage[] } }
  | { recognise: Uint8Array }
  | { progress: { step: Step; done: number; total: number } }
  | { done: { metadata: DocumentMetadata; notices: DocumentNotice[] } }
  | { failed: { failure: Failure; remedy: Remedy } };

/** Size of a batch: what the core can store without a noticeable pause. */
const BATCH = { passages: 24, blocks: 200, characters: 64 * 1024 };
/** Maximum characters of a document, about ten thousand full pages. An element counts a little more than its
 *  text, and so does a cell, so that empty elements cannot be endless. */
export const MAX_CHARACTERS = 32_000_000;
const OF_PIECE = 16;
const OF_CELL = 4;
const MAX_TITLE = 300;
const MAX_NOTICE = 1000;
const MAX_NOTICES = 20;
/** Maximum batches in flight. */
const AHEAD = 2;

const port = parentPort;
const say = (message: FromParser) => port?.postMessage(message);
let underWay = 0;
let go = () => {};
let recognised = (_: readonly RecognisedLine[] | null) => {};

/** One picture at a time. */
function recognise(picture: Uint8Array): Promise<readonly RecognisedLine[] | null> {
  const { promise, resolve } = Promise.withResolvers<readonly RecognisedLine[] | null>();
  recognised = resolve;
  say({ recognise: picture });
  return promise;
}
const { recognises } = workerData as ParserData;
const tools: Tools = {
  ...findAssets(),
  recognise: recognises ? recognise : null,
};

port?.on('message', (message: ToParser) => {
  if ('stored' in message) {
    underWay--;
    go();
    return;
  }
  if ('recognised' in message) {
    recognised(message.recognised);
    return;
  }
  read(message.read, message.kind).then(
    (done) => say({ done }),
    (error) => say({ failed: { failure: failureOf(error), remedy: remedyFor(error) } }),
  );
});

async function read(source: Source, kind: DocumentKind) {
  underWay = 0;
  const splitter = createChunker();
  const notices = new Map<string, DocumentNotice>();
  let blocks: Block[] = [];
  let passages: NewPassage[] = [];
  let characters = 0;
  let total = 0;
  const full = new LonghandError('too-large', `[documents] ${source.fileName} has more text than Longhand reads`);

  async function send() {
    say({ batch: { blocks, passages } });
    blocks = [];
    passages = [];
    characters = 0;
    underWay++;
    while (underWay >= AHEAD) await new Promise<void>((done) => (go = done));
  }
  function addPiece(piece: Element): Promise<void> | undefined {
    total += piece.text.length + OF_PIECE + (piece.cells?.length ?? 0) * OF_CELL;
    if (total > MAX_CHARACTERS) throw full;
    const { block, passages: finished } = splitter.add(piece);
    if (block) blocks.push(block);
    passages.push(...finished);
    characters += piece.text.length;
    const much = passages.length >= BATCH.passages || blocks.length >= BATCH.blocks;
    return much || characters >= BATCH.characters ? send() : undefined;
  }
  async function addPortions(piece: Element) {
    for (const portion of portionsOf(piece)) await addPiece(portion);
  }
  const sink: Sink = {
    add(piece) {
      return piece.text.length > MAX_PIECE ? addPortions(piece) : addPiece(piece);
    },
    progress: (step, done, total) => say({ progress: { step, done, total } }),
    notice(code, details = {}) {
      const notice = { code, details: shortened(details) };
      if (notices.size < MAX_NOTICES) notices.set(JSON.stringify(notice), notice);
    },
  };
  const reader = await readerOf(kind);
  const metadata = await reader(source, sink, tools).catch((error): DocumentMetadata => {
    if (error !== full) throw error;
    sink.notice('characters-cut', { millions: MAX_CHARACTERS / 1e6 });
    return { title: null, pages: null };
  });
  passages.push(...splitter.end());
  if (passages.length > 0 || blocks.length > 0) await send();
  const title = metadata.title?.slice(0, MAX_TITLE) ?? null;
  return { metadata: { ...metadata, title }, notices: [...notices.values()] };
}

const shortened = (details: DocumentNotice['details']): DocumentNotice['details'] =>
  Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.slice(0, MAX_NOTICE) : value,
    ]),
  );

function remedyFor(error: unknown): Remedy {
  if (!(error instanceof LonghandError)) return 'retry';
  const named = error.details?.remedy;
  if (named === 'unlock' || named === 'ocr') return named;
  return error.code === 'unreadable' || error.code === 'too-large' ? 'none' : 'retry';
}
