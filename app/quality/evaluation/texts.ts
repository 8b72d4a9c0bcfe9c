import { figureOf, LonghandError, type ResultOf } from '../../protocol/index.ts';
import { divergenceOf } from '../divergence.ts';
import { perplexityOf, positionsOf } from '../perplexity.ts';
import { type Reference, takeReference, textHash } from '../reference-file.ts';
import { type Window, windowsOf } from '../windows.ts';
import { type Subject, showing } from './subject.ts';

/** Tokens of a window, and between the beginnings of two; absent: 2,048 or all of a smaller context, and half of that. `limit`: of the
 *  whole text. */
export type Cut = {
  readonly window?: number | undefined;
  readonly stride?: number | undefined;
  readonly limit?: number | null;
};

export const USUAL_WINDOW = 2048;

/** The windows of a text as this model reads it. */
export function cut({ native, text }: Subject, written: string, { window, stride, limit }: Cut = {}): Window[] {
  const { tokenizer, before } = text;
  const tokens = Int32Array.from([...before, ...tokenizer.encodeText(written)]);
  const read = tokens.subarray(0, limit ?? tokens.length);
  const length = window ?? Math.min(USUAL_WINDOW, native.contextLength);
  return windowsOf(read, length, stride ?? Math.max(1, Math.floor(length / 2)));
}

/** What this model predicts, to compare others with. */
export const referenceFrom = (subject: Subject, windows: readonly Window[], name: string): Promise<Reference> =>
  showing(subject, 'reference', positionsOf(windows), (show) =>
    takeReference(subject.score, name, windows, subject.native.vocabularySize, show, subject.step),
  );

/** `written`: the text that the windows were cut from. */
export async function perplexityFrom(
  subject: Subject,
  windows: readonly Window[],
  written: string,
): Promise<ResultOf<'perplexity'>> {
  const { perplexity, loss, blocks, tokens } = await showing(subject, 'scoring', positionsOf(windows), (show) =>
    perplexityOf(subject.score, windows, show, subject.step),
  );
  // The first token of a text may be only read, and the end of it left out.
  const bytes = (Buffer.byteLength(written) * tokens) / Math.max(1, subject.text.tokenizer.encodeText(written).length);
  const bits = tokens / Math.LN2 / bytes;
  return {
    kind: 'perplexity',
    perplexity: figureOf(perplexity),
    bitsPerByte: figureOf({ value: loss.value * bits, low: loss.low * bits, high: loss.high * bits }),
    tokens,
    blocks: blocks.map(finite),
    windows: textHash(windows),
  };
}

/** @throws LonghandError `bad-request` for a reference of another text, tokenizer or window size */
export async function divergenceFrom(
  subject: Subject,
  windows: readonly Window[],
  reference: Reference,
): Promise<ResultOf<'divergence'>> {
  const hash = textHash(windows);
  needSameText(reference.text, hash, reference.model);
  const found = await showing(subject, 'comparing', positionsOf(windows), (show) =>
    divergenceOf(subject.score, windows, reference, show, subject.step),
  );
  return {
    kind: 'divergence',
    kld: figureOf(found.kld),
    kld99: finite(found.kld99),
    sameTop: figureOf(found.sameTop),
    perplexity: figureOf(found.perplexity),
    referencePerplexity: figureOf(found.referencePerplexity),
    tokens: found.tokens,
    reference: reference.model,
    blocks: found.blocks.map(finite),
    windows: hash,
  };
}

/** Two models can be compared token by token only if they read the same tokens. `name`: of the reference.
 *  @throws LonghandError `bad-request` */
export function needSameText(theirs: string | null, ours: string | null, name: string): void {
  if (theirs === ours) return;
  throw new LonghandError(
    'bad-request',
    `[eval] the reference of ${name} was made from another text, tokenizer or window size`,
    { details: { reason: 'quality-other-text' } },
  );
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
