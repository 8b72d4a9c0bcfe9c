import { createRequestProcess } from '../process/request-process.ts';
import { type Failure, LonghandError } from '../protocol/errors.ts';
import type { Measured } from './decode.ts';
import { SIPS } from './heic.ts';
import type { Preprocessor } from './preprocessor.ts';
import type { RgbPicture } from './resample.ts';

export type PictureSource = { readonly path: string } | { readonly bytes: Uint8Array };

export type PictureRequest = { readonly source: PictureSource } & (
  | { readonly as: 'size' }
  | { readonly as: 'preview' | 'copy'; readonly edge: number }
  | { readonly as: 'pixels'; readonly preprocessor: Preprocessor }
);

/** Decodes pictures in a process of its own, one after the other. All throw LonghandError `unreadable`, `too-large`, and file
 *  system errors. */
export type PictureDecoder = {
  /** Upright. */
  measure(source: PictureSource): Promise<Measured>;
  /** As WebP, at most `edge` pixels a side. */
  preview(source: PictureSource, edge: number): Promise<Uint8Array>;
  /** The same as JPEG, for other programs. */
  copy(source: PictureSource, edge: number): Promise<Uint8Array>;
  /** Resized as the checkpoint requires. */
  pixels(source: PictureSource, preprocessor: Preprocessor): Promise<RgbPicture>;
  close(): Promise<void>;
};

/** `worker`: the file of picture-process. */
export type DecoderOptions = {
  readonly worker: string;
  readonly timeLimitMs?: number;
  readonly memoryLimitMb?: number;
  /** What converts HEIC pictures. */
  readonly sips?: string;
};

export function createPictureDecoder(options: DecoderOptions): PictureDecoder {
  const { worker: file, timeLimitMs = 30_000, memoryLimitMb = 400, sips = SIPS } = options;
  const decoder = createRequestProcess<PictureRequest, { done: unknown } | { failure: Failure }>({
    file,
    args: [String(memoryLimitMb), sips],
    timeLimitMs,
    silentEnd: 'the decoder ended by itself',
    failed: (reason) => new LonghandError('unreadable', `[pictures] ${reason}`),
  });
  const ask = async <T>(request: PictureRequest): Promise<T> => {
    const reply = await decoder.ask(request);
    if ('done' in reply) return reply.done as T;
    const { code, message, details } = reply.failure;
    throw new LonghandError(code, message, details ? { details } : {});
  };
  return {
    measure: (source) => ask({ source, as: 'size' }),
    preview: (source, edge) => ask({ source, as: 'preview', edge }),
    copy: (source, edge) => ask({ source, as: 'copy', edge }),
    pixels: (source, preprocessor) => ask({ source, as: 'pixels', preprocessor }),
    close: decoder.close,
  };
}
