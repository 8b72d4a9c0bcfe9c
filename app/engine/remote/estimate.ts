import type { Prompt } from '../ipc-protocol.ts';

//  Estimates tokens for an engine whose tokenizer is unknown; errs on the high side.

/** Bytes of a token: four letters of English, one or two signs of Chinese. */
const BYTES = 4;
const FRAME = 8;
/** What most models take for a picture of common size. */
export const PICTURE_TOKENS = 1200;

export const estimated = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES);

/** For a streamed chunk: most servers send one token per chunk. */
export const estimatedPiece = (text: string): number =>
  Buffer.byteLength(text) <= ONE_TOKEN ? 1 : Math.round(Buffer.byteLength(text) / BYTES);

const ONE_TOKEN = 16;

export function estimatedPrompt({ messages, tools, continuation }: Prompt): number {
  const texts = messages.map(
    ({ text, calls, pictures }) =>
      estimated(text) +
      FRAME +
      (calls ? estimated(JSON.stringify(calls)) : 0) +
      (pictures?.length ?? 0) * PICTURE_TOKENS,
  );
  const more = (tools ? estimated(JSON.stringify(tools)) : 0) + estimated(continuation?.text ?? '');
  return texts.reduce((sum, count) => sum + count, more);
}
