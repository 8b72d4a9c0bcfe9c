import type { GenerationService } from '../engine/client/generation-service.ts';
import type { EmbedderTarget } from '../engine/ipc-protocol.ts';
import { LonghandError } from '../protocol/index.ts';

//  Embeds, ranks or counts many texts in batches and checks for cancellation in between: a request may have two
//  thousand book-length texts, and its client may have disconnected.

/** Texts, and characters, per batch: a second or two of work. */
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

/** Number of tokens of the texts. @throws LonghandError `cancelled` */
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

/** The next batch; at least one text. */
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
