import { LonghandError, type Variant } from '../../protocol/index.ts';

export const silentDisk = (path: string): LonghandError =>
  new LonghandError('unreadable', `[models] the disk of ${path} does not answer`, { details: { reason: 'disk' } });

/** The error for files on an unmounted drive: nothing is lost. */
export const unmountedError = (path: string): LonghandError =>
  new LonghandError('model-missing', `[models] the drive or folder of ${path} is not available`, {
    details: { reason: 'unmounted' },
  });

type Needs = { needed: number; limit: number; contextLength: number; longestContext: number };

/** `leastContext`: the smallest context that is useful for a chat. */
export const tooLarge = (name: string, needs: Needs, leastContext: number): LonghandError =>
  new LonghandError(
    'out-of-memory',
    `[models] ${name} needs ${gigabytes(needs.needed)} with ${needs.contextLength} tokens of context, but only ${gigabytes(needs.limit)} is free; ` +
      (needs.longestContext >= leastContext
        ? `the longest context that fits is ${needs.longestContext}`
        : 'no useful context fits'),
    { details: needs },
  );

const gigabytes = (bytes: number) => `${Number((bytes / 2 ** 30).toFixed(1))} GB`;

/** @throws LonghandError `model-unsupported` */
export function needSupported({ description }: Variant, name: string): void {
  if (description.supported) return;
  const { problems } = description;
  throw new LonghandError('model-unsupported', `[models] ${name}: ${problems[0] ?? 'not supported'}`, {
    details: { problems },
  });
}
