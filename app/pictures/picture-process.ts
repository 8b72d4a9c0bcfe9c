import { type Numbered, type NumberedReply, watchMemory } from '../process/request-process.ts';
import { failureOf, LonghandError } from '../protocol/errors.ts';
import { readRegular } from '../store/folder/open-regular.ts';
import { copy, decode, MAX_BYTES, type Measured, measure, preview } from './decode.ts';
import { demandSips, isHeic, SIPS, tiffOfHeic } from './heic.ts';
import type { PictureRequest } from './picture-decoder.ts';
import { sizeFor } from './preprocessor.ts';
import { type RgbPicture, resample } from './resample.ts';

//  Entry of the process that decodes pictures: node picture-worker.js PROCESS_MB SIPS.

const [processMb, sips = SIPS] = process.argv.slice(2);
watchMemory(Number(processMb));
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
  if (request.as === 'size') {
    if (isHeic(bytes)) demandSips(sips);
    return measure(bytes);
  }
  const readable = isHeic(bytes) ? await tiffOfHeic(bytes, await measure(bytes), sips) : bytes;
  if (request.as !== 'pixels') return (request.as === 'preview' ? preview : copy)(readable, request.edge);
  const picture = await decode(readable);
  const { width, height } = sizeFor(request.preprocessor, picture);
  return resample(picture, width, height);
}
