import { type Numbered, type NumberedReply, watchMemory } from '../process/request-process.ts';
import { failureOf, LonghandError } from '../protocol/errors.ts';
import { readRegular } from '../store/folder/open-regular.ts';
import { copy, decode, MAX_BYTES, type Measured, measure, preview } from './decode.ts';
import type { PictureRequest } from './picture-decoder.ts';
import { sizeFor } from './preprocessor.ts';
import { type RgbPicture, resample } from './resample.ts';

//  Entry of the process that decodes pictures: node picture-worker.js PROCESS_MB.

watchMemory(Number(process.argv[2]));
process.on('message', ({ id, request }: Numbered<PictureRequest>) => {
  const reply = (message: NumberedReply<unknown>) => process.send?.(message);
  answer(request).then(
    (done) => reply({ id, reply: { done } }),
    (error) => reply({ id, reply: { failure: failureOf(error) } }),
  );
});

async function answer(request: PictureRequest): Promise<Measured | RgbPicture | Uint8Array> {
  const bytes = 'path' in request.source ? await readRegular(request.source.path, MAX_BYTES) : request.source.bytes;
  if (bytes.length === 0) throw new LonghandError('unreadable', '[pictures] the file is empty');
  if (request.as === 'size') return measure(bytes);
  if (request.as !== 'pixels') return (request.as === 'preview' ? preview : copy)(bytes, request.edge);
  const picture = await decode(bytes);
  const { width, height } = sizeFor(request.preprocessor, picture);
  return resample(picture, width, height);
}
