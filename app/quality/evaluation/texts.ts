import { figureOf, LonghandError, type ResultOf } from '../../protocol/index.ts';
import { divergenceOf } from '../divergence.ts';
import { perplexityOf, positionsOf } from '../perplexity.ts';
import { type Reference, takeReference, textHash } from '../reference-file.ts';
import { type Window, windowsOf } from '../windows.ts';
import { type Subject, showing } from './subject.ts';

/** Tokens of a window, and between the beginnings of two; absent: 2,048 or all of a smaller context, and half of that. */
export type Cut = { readonly window?: number | undefined; readonly stride?: number | undefined };

const USUAL_WINDOW = 2048;

/** The windows of a text as this model reads it. */
export function cut({ native, text }: Subject, written: string, { window, stride }: Cut = {}): Window[] {
  const { tokenizer, before } = text;
  const tokens = Int32Array.from([...before, ...tokenizer.encodeText(written)]);
  const length = window ?? Math.min(USUAL_WINDOW, native.contextLength);
  return windowsOf(tokens, length, stride ?? Math.max(1, Math.floor(length / 2)));
}

/** What this model predicts, to compare others with. */
export const referenceFrom = (subject: Subject, windows: readonly Window[], name: string): Promise<Reference> =>
  showing(subject, 'reference', positionsOf(windows), (show) =>
    takeReference(subject.score, name, windows, subject.native.vocabularySize, show, subject.step),
  );

/** `bytes`: of the text. */
export async function perplexityFrom(
  subject: Subject,
  windows: readonly Window[],
  bytes: number,
): Promise<ResultOf<'perplexity'>> {
  const { perplexity, loss, blocks, tokens } = await showing(subject, 'scoring', positionsOf(windows), (show) =>
    perplexityOf(subject.score, windows, show, subject.step),
  );
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
  if (reference.text !== hash) {
    throw new LonghandError(
      'bad-request',
      `[eval] the reference of ${reference.model} was made from another text, tokenizer or window size`,
      { details: { reason: 'quality-other-text' } },
    );
  }
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

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
