import { createValueCount, MAX_VALUES } from '../../protocol/index.ts';
import { type Bytes, DownloadError } from '../network/download-error.ts';
import { addressOf, type Network } from '../network/http-request.ts';
import { leadsInside } from '../network/private-hosts.ts';
import { hiddenCredentials } from '../network/redact-credentials.ts';

//  API responses of a hub: lists and descriptions, never files. They must be small and come from the host that was asked;
//  larger responses and redirects to other hosts are aborted.

/** A search result has hundreds of models with all their files. */
const MAX_ANSWER: Bytes = 16 * 1024 * 1024;
/** Maximum bytes of all pages of one request. */
const MAX_TOTAL: Bytes = 32 * 1024 * 1024;
const MAX_PAGES = 50;
const MAX_REDIRECTS = 5;

/** `fetch` for one request to the hub at `home`: all its pages, and the token, stay with that host. */
export function askOnly(home: string, net: Network, signal: AbortSignal): typeof fetch {
  const { origin } = new URL(home);
  let altogether: Bytes = 0;
  let pages = 0;

  const once = async (url: URL, init: RequestInit | undefined): Promise<Response> => {
    const headers = new Headers(init?.headers);
    if (url.origin !== origin) headers.delete('authorization');
    return net.fetch(url.href, { ...init, headers, signal, redirect: 'manual' });
  };

  async function answer(url: URL, init: RequestInit | undefined): Promise<{ response: Response; url: URL }> {
    let at = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const response = await once(at, init);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || !location) return { response, url: at };
      await response.body?.cancel();
      at = nextHop(at, location);
    }
    throw new DownloadError('server', `[hub] more than ${MAX_REDIRECTS} redirects from ${url.host}`);
  }

  return (async (input, init) => {
    if (++pages > MAX_PAGES) throw new DownloadError('server', `[hub] more than ${MAX_PAGES} pages from ${origin}`);
    const asked = addressOf(input);
    // The link to the next page may name any host: only its path is used.
    const url = new URL(`${asked.pathname}${asked.search}`, origin);
    const { response, url: last } = await answer(url, init);
    const bytes = await wholeBody(response, MAX_ANSWER, last.host, (more) => {
      altogether += more;
      net.received?.(last.host, more);
      if (altogether > MAX_TOTAL) throw tooMuch(last.host, MAX_TOTAL);
    });
    demandFewValues(bytes, last.host);
    const headers = new Headers(response.headers);
    // The body is already decompressed.
    headers.delete('content-encoding');
    headers.delete('content-length');
    const empty = response.status === 204 || response.status === 304;
    return new Response(empty ? null : bytes, { status: response.status, headers });
  }) as typeof fetch;
}

function nextHop(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  if (!next) throw new DownloadError('server', `[hub] redirect from ${from.host} to something that is not an address`);
  if (next.protocol !== 'https:' && next.protocol !== from.protocol) {
    throw new DownloadError('server', `[hub] redirect from ${from.host} to ${next.protocol}, only https is allowed`);
  }
  if (next.username !== '' || next.password !== '') {
    throw new DownloadError(
      'server',
      `[hub] redirect from ${from.host} to an address with a password, which is not allowed`,
    );
  }
  if (leadsInside(from, next)) {
    throw new DownloadError('server', `[hub] ${from.host} redirects into the own network, which is not allowed`);
  }
  return next;
}

/** Counts actual bytes, whatever Content-Length says. */
async function wholeBody(
  response: Response,
  most: Bytes,
  host: string,
  heard: (bytes: Bytes) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length: Bytes = 0;
  // Leaving the loop closes the connection.
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > most) throw tooMuch(host, most);
    heard(piece.length);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces, length));
}

/** Checked before parsing; JSON syntax is ASCII. @throws DownloadError `wrong-content` */
function demandFewValues(bytes: Uint8Array, host: string) {
  if (!createValueCount().exceeded(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')))
    return;
  throw new DownloadError('wrong-content', `[hub] ${host} answered with more than ${MAX_VALUES} values`);
}

const tooMuch = (host: string, most: Bytes) =>
  new DownloadError('wrong-content', `[hub] ${host} answered with more than ${most} bytes, which is the limit`);

/** Reads a response of `request` as JSON, with a size limit. @throws DownloadError `wrong-content` */
export async function smallJson(body: AsyncIterable<Uint8Array>, host: string): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let length: Bytes = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > MAX_ANSWER) throw tooMuch(host, MAX_ANSWER);
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces, length);
  demandFewValues(bytes, host);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new DownloadError('wrong-content', `[hub] ${host} answered with something that is not JSON`, {
      cause: error,
    });
  }
}

/** @throws DownloadError for a URL with credentials, without showing them */
export function demandNoPassword(address: string): void {
  const { username, password, host } = new URL(address);
  if (username === '' && password === '') return;
  throw new DownloadError('server', `[hub] the address of ${host} must not contain a name or a password`);
}

/** The message of an error with its cause: `fetch` only says "fetch failed". */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return hiddenCredentials(String(error)).slice(0, 500);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return hiddenCredentials(`${error.message}${cause}`).slice(0, 500);
}
