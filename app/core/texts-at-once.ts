import type { GenerationService } from '../engine/client/generation-service.ts';
import type { EmbedderTarget } from '../engine/ipc-protocol.ts';
import { LonghandError } from '../protocol/index.ts';

//  Vectors and scores of many texts, a few at a time: between them it is asked whether anybody still waits. A request may have two
//  thousand texts of a book each, and whoever sent it may have gone.

/** Texts, and characters of them, that are read before it is asked again: a second or two. */
const TEXTS = 64;
const CHARACTERS = 8000;

/** @throws LonghandError `cancelled` */
export const embedAll = (
  engine: GenerationService,
  target: EmbedderTarget,
  texts: readonly string[],
  kind: 'query' | 'passage',
  signal: AbortSignal,
): Promise<Float32Array[]> =>
  inPieces(texts, signal, async (some) => {
    const { vectors } = await engine.ask('embed', { target, texts: some, kind, urgent: true });
    return vectors;
  });

/** @throws LonghandError `cancelled` */
export const rankAll = (
  engine: GenerationService,
  target: EmbedderTarget,
  query: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[]> =>
  inPieces(texts, signal, async (some) => (await engine.ask('rank', { target, query, texts: some })).scores);

/** Tokens of texts. @throws LonghandError `cancelled` */
export async function countAll(
  engine: GenerationService,
  { path }: EmbedderTarget,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  let tokens = 0;
  for (const text of texts) {
    goOn(signal);
    tokens += await engine.ask('countText', { model: { path, template: null }, text });
  }
  return tokens;
}

async function inPieces<Result>(
  texts: readonly string[],
  signal: AbortSignal,
  read: (some: string[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  while (results.length < texts.length) {
    goOn(signal);
    results.push(...(await read(firstOf(texts.slice(results.length)))));
  }
  return results;
}

/** One at least. */
function firstOf(texts: readonly string[]): string[] {
  const some: string[] = [];
  let characters = 0;
  for (const text of texts) {
    characters += text.length;
    if (some.length > 0 && (some.length === TEXTS || characters > CHARACTERS)) break;
    some.push(text);
  }
  return some;
}

function goOn(signal: AbortSignal) {
  if (signal.aborted) throw new LonghandError('cancelled', '[request] was ended before it was answered');
}
