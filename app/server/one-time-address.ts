import { enterPath, LonghandError, ticketPath } from '../protocol/index.ts';
import { type Reach, reachOf } from '../store/lock.ts';

//  How programs of the same user come in where a browser host runs: by the key that stands in the data folder.

/** An address that lets one page in, from what the holder of a data folder left there.
 *  @throws LonghandError `data-folder-held` when nobody answers there */
export async function freshAddress({ address, key }: Reach): Promise<string> {
  const answer = await ask(new URL(ticketPath, address), { Authorization: `Bearer ${key}` });
  return addressWith(address, answer.ticket ?? '');
}

export const addressWith = (origin: string, ticket: string) => `${origin}/#once=${ticket}`;

/** What a page does with such an address: the secret for everything else. */
export async function enter(address: string): Promise<{ origin: string; secret: string }> {
  const { origin, hash } = new URL(address);
  const { secret } = await ask(new URL(enterPath, origin), {
    Origin: origin,
    Authorization: `Bearer ${hash.replace('#once=', '')}`,
  });
  return { origin, secret: secret ?? '' };
}

async function ask(url: URL, headers: Record<string, string>): Promise<{ ticket?: string; secret?: string }> {
  const answer = await fetch(url, { method: 'POST', headers, redirect: 'error' }).catch((error: Error) => {
    throw new LonghandError('data-folder-held', `[server] ${url.origin} does not answer: ${error.message}`);
  });
  if (!answer.ok) throw new LonghandError('permission', `[server] ${url.origin}: ${await answer.text()}`);
  return (await answer.json()) as { ticket?: string; secret?: string };
}

/** Where the running Longhand can be reached, when that is why a folder cannot be had. */
export const reachIn = (error: unknown): Reach | null =>
  error instanceof LonghandError && error.code === 'data-folder-held' ? reachOf(error.details) : null;
