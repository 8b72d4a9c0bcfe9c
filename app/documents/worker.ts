import { parentPort } from 'node:worker_threads';
import type { Block, DocumentKind, DocumentState } from '../protocol/documents.ts';
import { type Failure, failureOf, LonghandError } from '../protocol/errors.ts';
import type { NewPassage } from '../store/passages.ts';
import { findAssets } from './assets.ts';
import { readerOf } from './formats/readers.ts';
import type { Facts, Sink, Source, Step } from './piece.ts';
import { createSplitter } from './split.ts';

//  Entry of the thread that reads documents: files are somebody else's programs. One document at a time; it waits when the
//  core is slower, so that what is read but not stored stays small.

export type Remedy = Extract<DocumentState, { at: 'failed' }>['remedy'];
export type ToReader = { read: Source; kind: DocumentKind } | { stored: true };
export type FromReader =
  | { batch: { blocks: Block[]; passages: NewPassage[] } }
  | { progress: { step: Step; done: number; total: number } }
  | { done: { facts: Facts; notices: string[] } }
  | { failed: { failure: Failure; remedy: Remedy } };

/** Passages and blocks that are sent at once. */
const BATCH = { passages: 24, blocks: 400 };
/** Batches that may be under way. */
const AHEAD = 2;

const port = parentPort;
const say = (message: FromReader) => port?.postMessage(message);
const assets = findAssets();
let underWay = 0;
let go = () => {};

port?.on('message', (message: ToReader) => {
  if ('stored' in message) {
    underWay--;
    go();
    return;
  }
  read(message.read, message.kind).then(
    (done) => say({ done }),
    (error) => say({ failed: { failure: failureOf(error), remedy: remedyFor(error) } }),
  );
});

async function read(source: Source, kind: DocumentKind) {
  underWay = 0;
  const splitter = createSplitter();
  const notices = new Set<string>();
  let blocks: Block[] = [];
  let passages: NewPassage[] = [];

  async function send() {
    say({ batch: { blocks, passages } });
    blocks = [];
    passages = [];
    underWay++;
    while (underWay >= AHEAD) await new Promise<void>((done) => (go = done));
  }
  const sink: Sink = {
    add(piece) {
      const { block, passages: finished } = splitter.add(piece);
      if (block) blocks.push(block);
      passages.push(...finished);
      return passages.length >= BATCH.passages || blocks.length >= BATCH.blocks ? send() : undefined;
    },
    progress: (step, done, total) => say({ progress: { step, done, total } }),
    notice: (sentence) => void notices.add(sentence),
  };
  const reader = await readerOf(kind);
  const facts = await reader(source, sink, assets);
  passages.push(...splitter.end());
  if (passages.length > 0 || blocks.length > 0) await send();
  return { facts, notices: [...notices] };
}

function remedyFor(error: unknown): Remedy {
  if (!(error instanceof LonghandError)) return 'retry';
  const named = error.details?.remedy;
  if (named === 'unlock' || named === 'ocr') return named;
  return error.code === 'unreadable' || error.code === 'too-large' ? 'none' : 'retry';
}
