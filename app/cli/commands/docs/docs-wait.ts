import { type Client, LonghandError } from '../../../protocol/index.ts';

/** The result of `look` once an event makes it non-null; null if no event arrives for `timeoutMs`.
 *  @throws LonghandError `cancelled` */
export async function until<T>(
  client: Client,
  signal: AbortSignal,
  timeoutMs: number | null,
  look: () => Promise<T | null>,
): Promise<T | null> {
  let heard = Promise.withResolvers<boolean>();
  const hear = () => heard.resolve(true);
  const stops = WATCHED.map((event) => client.on(event, hear));
  signal.addEventListener('abort', hear);
  try {
    for (;;) {
      heard = Promise.withResolvers();
      const seen = await look();
      if (seen !== null) return seen;
      if (signal.aborted)
        throw new LonghandError('cancelled', '[docs] stopped; the added files will be read at the next start');
      const timeout = timeoutMs === null ? undefined : setTimeout(heard.resolve, timeoutMs, false);
      const again = await heard.promise;
      clearTimeout(timeout);
      if (!again) return null;
    }
  } finally {
    for (const stop of stops) stop();
    signal.removeEventListener('abort', hear);
  }
}

const WATCHED = ['document.changed', 'document.removed', 'collections.changed'] as const;
