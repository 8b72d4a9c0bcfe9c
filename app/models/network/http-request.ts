import { guarded } from '../../protocol/index.ts';
import type { Address } from './address.ts';
import { type Bytes, DownloadError } from './download-error.ts';
import { openFile } from './file-transport.ts';
import { openHttp } from './http-transport.ts';
import { leadsInside } from './private-hosts.ts';
import { hiddenCredentials } from './redact-credentials.ts';
import type { Answered, Open, RequestHeaders } from './transport.ts';

/** Access to the network; tests use shorter timeouts. */
export type Network = {
  /** For small API responses. */
  fetch: typeof fetch;
  /** For files. */
  open: Open;
  /** A connection is given up after this long without a byte (slow loris, dead link, unmounted network drive). */
  stallMs: number;
  /** Called for every chunk of a body. */
  received?: (host: string, bytes: Bytes) => void;
};
export const network: Network = {
  fetch: (input, init) => fetch(input, init),
  open: (url, ...rest) => (url.protocol === 'file:' ? openFile(url, ...rest) : openHttp(url, ...rest)),
  stallMs: 30_000,
};
export const addressOf = (input: Parameters<typeof fetch>[0]): URL =>
  new URL(input instanceof Request ? input.url : input);

export type Answer = {
  /** False when the server ignored the range and sends the whole file. */
  ranged: boolean;
  etag: string | null;
  /** Size of the whole file according to the server; null if not given. */
  size: Bytes | null;
  body: AsyncIterable<Uint8Array>;
};

const MAX_REDIRECTS = 8;

/** Requests bytes [first, last] of a file, following redirects itself so that a token stays with its own host.
 *  @throws DownloadError for any response other than these bytes. */
export async function request(
  address: Address,
  range: { first: Bytes; last: Bytes } | null,
  etag: string | null,
  signal: AbortSignal,
  net: Network,
): Promise<Answer> {
  let url = withoutPassword(new URL(address.url));
  const home = url.host;
  const stall = stallGuard(signal, net.stallMs);
  try {
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const headers: RequestHeaders = { 'accept-encoding': 'identity' };
      if (range) headers.range = `bytes=${range.first}-${range.last}`;
      if (address.token && url.host === home) headers.authorization = `Bearer ${address.token}`;
      const answer = await net
        .open(url, headers, stall.signal)
        .catch((error) => throwNetwork(error, signal, stall.signal));
      const location = answer.header('location');
      if (answer.status >= 300 && answer.status < 400 && location) {
        answer.cancel();
        url = nextHop(url, location);
        continue;
      }
      const { host } = url;
      const heard = (bytes: Bytes) => net.received?.(host, bytes);
      return read(answer, range, etag, { stall, signal, heard, host, elsewhere: host !== home });
    }
    throw new DownloadError('server', `[download] more than ${MAX_REDIRECTS} redirects from ${home}`);
  } catch (error) {
    stall.done();
    throw error;
  }
}

function nextHop(from: URL, location: string): URL {
  const next = URL.parse(location, from.href);
  if (!next) throw new DownloadError('server', '[download] redirected to something that is not an address');
  const allowed = next.protocol === 'https:' || next.protocol === from.protocol;
  if (!allowed || (next.protocol !== 'https:' && next.protocol !== 'http:')) {
    throw new DownloadError('server', `[download] redirect to ${next.protocol}, only https is allowed`);
  }
  if (leadsInside(from, next)) {
    throw new DownloadError('server', `[download] ${from.host} redirects into the own network, which is not allowed`);
  }
  return withoutPassword(next);
}

/** URLs are displayed and stored, so they must not contain passwords. */
function withoutPassword(url: URL): URL {
  if (url.username === '' && url.password === '') return url;
  throw new DownloadError('server', `[download] the address of ${url.host} must not contain a name or a password`);
}

function read(
  answered: Answered,
  range: { first: Bytes; last: Bytes } | null,
  etag: string | null,
  { elsewhere, host, ...reading }: Reading & { elsewhere: boolean; host: string },
): Answer {
  const { status, header } = answered;
  const refuse = (error: DownloadError): never => {
    answered.cancel();
    throw error;
  };
  if (status >= 400) refuse(refusal(answered, host, elsewhere));
  if (status !== 200 && status !== 206) {
    refuse(new DownloadError('server', `[download] status ${status}, expected 200 or 206`));
  }
  if (/^text\/html/i.test(header('content-type') ?? '')) {
    refuse(new DownloadError('wrong-content', '[download] a web page came instead of the file; a login may be needed'));
  }
  const packed = header('content-encoding') ?? 'identity';
  if (packed !== 'identity') {
    refuse(
      new DownloadError(
        'server',
        `[download] the server sent compressed bytes (${packed}), although identity was requested`,
      ),
    );
  }
  const ranged = status === 206;
  const told = ranged ? contentRange(answered) : { first: 0, size: numberOf(header('content-length')) };
  if (ranged && range && told.first !== range.first) {
    refuse(
      new DownloadError('server', `[download] got bytes from ${told.first}, requested ${range.first}`, {
        transient: true,
      }),
    );
  }
  const tag = validator(answered);
  if (etag && tag && tag !== etag)
    refuse(new DownloadError('remote-changed', '[download] the file on the server changed'));
  return { ranged, etag: tag, size: told.size, body: chunks(answered, reading) };
}

/** The hub's content hash if given, or else the ETag. */
const validator = ({ header }: Answered): string | null => header('x-linked-etag') ?? header('etag');

type Reading = { stall: ReturnType<typeof stallGuard>; signal: AbortSignal; heard: (bytes: Bytes) => void };

async function* chunks({ body }: Answered, { stall, signal, heard }: Reading) {
  try {
    for await (const chunk of body) {
      stall.alive();
      heard(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throwNetwork(error, signal, stall.signal);
  } finally {
    stall.done();
  }
}

/** Aborts when nothing arrives for `ms`. */
function stallGuard(outer: AbortSignal, ms: number) {
  const stalled = new AbortController();
  const expire = guarded(console.error, () =>
    stalled.abort(new DOMException(`no byte for ${ms / 1000} s`, 'TimeoutError')),
  );
  let timer = setTimeout(expire, ms);
  return {
    signal: AbortSignal.any([outer, stalled.signal]),
    alive() {
      clearTimeout(timer);
      timer = setTimeout(expire, ms);
    },
    done: () => clearTimeout(timer),
  };
}

/** `elsewhere`: a storage host behind a signed address, where 403 means that the signature has expired. */
function refusal({ status, header }: Answered, host: string, elsewhere: boolean): DownloadError {
  const retryAfter = secondsUntil(header('retry-after'));
  const message = `[download] status ${status} from ${host}`;
  if (status === 403 && elsewhere)
    return new DownloadError('server', `${message}: address expired`, { transient: true });
  if (status === 401 || status === 403) return new DownloadError('gated', message);
  if (status === 404 || status === 410) return new DownloadError('not-found', message);
  if (status === 416) return new DownloadError('remote-changed', message);
  if (status === 429) return new DownloadError('rate-limited', message, { transient: true, retryAfter });
  return new DownloadError('server', message, { transient: status >= 500 || status === 408, retryAfter });
}

function secondsUntil(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(600, Math.max(0, seconds)) : null;
}

function contentRange({ header }: Answered): { first: Bytes; size: Bytes | null } {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(header('content-range') ?? '');
  if (!match) return { first: -1, size: null };
  return { first: Number(match[1]), size: numberOf(match[3] ?? null) };
}

function numberOf(text: string | null): Bytes | null {
  return text !== null && /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

function throwNetwork(error: unknown, signal: AbortSignal, stall: AbortSignal): never {
  if (signal.aborted) throw signal.reason;
  if (error instanceof DownloadError) throw error;
  const told = stall.aborted ? stall.reason : error;
  const cause = told instanceof Error && told.cause instanceof Error ? told.cause.message : '';
  const message = told instanceof Error ? told.message : String(told);
  throw new DownloadError('network', `[download] ${hiddenCredentials(`${message}${cause && `: ${cause}`}`)}`, {
    transient: true,
    cause: error,
  });
}
