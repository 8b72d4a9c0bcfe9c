import { enterPath, LonghandError, ticketPath } from '../protocol/index.ts';
import { type Reach, reachOf } from '../store/lock.ts';

//  Access to a running browser host for programs of the same user, by the key in the data folder.

/** A URL that admits one page, obtained with the key in the data folder.
 *  @throws LonghandError `data-folder-held` if nobody answers there */
export async function freshAddress({ address, key }: Reach): Promise<string> {
  const answer = await ask(new URL(ticketPath, address), { Authorization: `Bearer ${key}` });
  return addressWith(address, answer.ticket ?? '');
}

export const addressWith = (origin: string, ticket: string) => `${origin}/#once=${ticket}`;

/** What a page does with such a URL: exchanges it for a secret. */
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

/** The address of the running Longhand, if that is why a folder is locked. */
export const reachIn = (error: unknown): Reach | null =>
  error instanceof LonghandError && error.code === 'data-folder-held' ? reachOf(error.details) : null;
