import { LonghandError } from '../../protocol/index.ts';

//  The address of a remote engine: as the user types it, and as a base URL.

/** The base URL of its endpoints: `192.168.1.20:8000` and `http://192.168.1.20:8000/v1/` are the same. A path with a version is the
 *  server's own (`/api/v1`, `/v1beta/openai`); any other gets /v1.
 *  @throws LonghandError `bad-request` */
export function baseOf(given: string): string {
  const typed = given.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') throw badAddress('what came is none');
  if (url.username !== '' || url.password !== '')
    throw badAddress('it holds a name or a password; a key has its own field');
  if (url.search !== '' || url.hash !== '') throw badAddress('it holds a query');
  const path = url.pathname.replace(/\/(?:chat\/completions|completions|models)?\/*$/, '');
  const versioned = path.split('/').some((part) => /^v\d/.test(part));
  return `${url.origin}${path.replace(/\/+$/, '')}${versioned ? '' : '/v1'}`;
}

const badAddress = (why: string) =>
  new LonghandError(
    'bad-request',
    `[remote] ${why}; an address is wanted, as in http://192.168.1.20:8000 or https://models.example/v1`,
    { details: { reason: 'engine-address' } },
  );

export type AddressInfo = { host: string; here: boolean; plain: boolean };

/** `here`: the loopback of this computer. `plain`: what is sent can be read on its way. */
export function addressInfoOf(address: string): AddressInfo {
  const { host, hostname, protocol } = new URL(address);
  const here = isLoopback(hostname);
  return { host, here, plain: protocol === 'http:' && !here };
}

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
