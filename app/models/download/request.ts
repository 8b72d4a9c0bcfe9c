import { fileFetch } from './file-fetch.ts';
import { type Address, type Bytes, DownloadError } from './state.ts';

/** How the network is reached; tests make time pass faster. */
export type Network = {
  fetch: typeof fetch;
  /** Without a byte for this long a connection is given up (slow loris, dead link, a network drive that went away). */
  stallMs: number;
  /** Hears of every piece of a body. */
  received?: (host: string, bytes: Bytes) => void;
};
export const network: Network = {
  fetch: (input, init) => (addressOf(input).protocol === 'file:' ? fileFetch(input, init) : fetch(input, init)),
  stallMs: 30_000,
};
export const addressOf = (input: Parameters<typeof fetch>[0]): URL =>
  new URL(input instanceof Request ? input.url : input);

export type Answer = {
  /** False when the server ignored the range and sends the whole file. */
  ranged: boolean;
  etag: string | null;
  /** Size of the whole file as the server tells it, null when it does not. */
  size: Bytes | null;
  body: AsyncIterable<Uint8Array>;
};

const MOST_REDIRECTS = 8;

/** Asks for bytes [first, last] of a file and follows redirects itself, so that a token stays with its own host.
 *  @throws DownloadError for every answer that is not these bytes. */
export async function request(
  address: Address,
  range: { first: Bytes; last: Bytes } | null,
  etag: string | null,
  signal: AbortSignal,
  net: Network,
): Promise<Answer> {
  const home = new URL(address.url).host;
  const stall = stallGuard(signal, net.stallMs);
  let url = new URL(address.url);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const headers: { range?: string; authorization?: string; 'accept-encoding': string } = {
      'accept-encoding': 'identity',
    };
    if (range) headers.range = `bytes=${range.first}-${range.last}`;
    if (address.token && url.host === home) headers.authorization = `Bearer ${address.token}`;
    const response = await net
      .fetch(url, { headers, redirect: 'manual', signal: stall.signal })
      .catch((error) => throwNetwork(error, signal));
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location) {
      await response.body?.cancel();
      url = nextHop(url, location);
      continue;
    }
    const { host } = url;
    const heard = (bytes: Bytes) => net.received?.(host, bytes);
    return read(response, range, etag, { stall, signal, heard, elsewhere: host !== home });
  }
  throw new DownloadError('server', `[download] more than ${MOST_REDIRECTS} redirects from ${home}`);
}

function nextHop(from: URL, location: string): URL {
  const next = new URL(location, from);
  const allowed = next.protocol === 'https:' || next.protocol === from.protocol;
  if (!allowed || (next.protocol !== 'https:' && next.protocol !== 'http:')) {
    throw new DownloadError('server', `[download] redirect to ${next.protocol}, allowed is https`);
  }
  return next;
}

function read(
  response: Response,
  range: { first: Bytes; last: Bytes } | null,
  etag: string | null,
  { elsewhere, ...reading }: Reading & { elsewhere: boolean },
): Answer {
  const { stall } = reading;
  const refuse = (error: DownloadError): never => {
    stall.done();
    response.body?.cancel().catch(() => {});
    throw error;
  };
  if (response.status >= 400) refuse(refusal(response, elsewhere));
  if (response.status !== 200 && response.status !== 206) {
    refuse(new DownloadError('server', `[download] status ${response.status}, allowed are 200 and 206`));
  }
  if (/^text\/html/i.test(response.headers.get('content-type') ?? '')) {
    refuse(new DownloadError('wrong-content', '[download] a web page came instead of the file; a login may be needed'));
  }
  const ranged = response.status === 206;
  const told = ranged ? contentRange(response) : { first: 0, size: numberOf(response.headers.get('content-length')) };
  if (ranged && range && told.first !== range.first) {
    refuse(
      new DownloadError('server', `[download] bytes from ${told.first} came, ${range.first} were asked for`, {
        transient: true,
      }),
    );
  }
  const tag = validator(response);
  if (etag && tag && tag !== etag)
    refuse(new DownloadError('remote-changed', '[download] the file on the server changed'));
  return { ranged, etag: tag, size: told.size, body: chunks(response, reading) };
}

/** The hub's name for the content where it has one, else the ETag. */
function validator(response: Response): string | null {
  return response.headers.get('x-linked-etag') ?? response.headers.get('etag');
}

type Reading = { stall: ReturnType<typeof stallGuard>; signal: AbortSignal; heard: (bytes: Bytes) => void };

async function* chunks(response: Response, { stall, signal, heard }: Reading) {
  try {
    for await (const chunk of response.body ?? []) {
      stall.alive();
      heard((chunk as Uint8Array).length);
      yield chunk as Uint8Array;
    }
  } catch (error) {
    throwNetwork(error, signal);
  } finally {
    stall.done();
  }
}

/** Aborts when nothing arrives for `ms`. */
function stallGuard(outer: AbortSignal, ms: number) {
  const stalled = new AbortController();
  const expire = () => stalled.abort(new DOMException(`no byte for ${ms / 1000} s`, 'TimeoutError'));
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
function refusal(response: Response, elsewhere: boolean): DownloadError {
  const { status } = response;
  const retryAfter = secondsUntil(response.headers.get('retry-after'));
  const message = `[download] status ${status} from ${new URL(response.url || 'http://unknown').host}`;
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

function contentRange(response: Response): { first: Bytes; size: Bytes | null } {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
  if (!match) return { first: -1, size: null };
  return { first: Number(match[1]), size: numberOf(match[3] ?? null) };
}

function numberOf(text: string | null): Bytes | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

function throwNetwork(error: unknown, signal: AbortSignal): never {
  if (error instanceof DownloadError) throw error;
  if (signal.aborted) throw signal.reason;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const message = error instanceof Error ? error.message : String(error);
  throw new DownloadError('network', `[download] ${message}${cause && `: ${cause}`}`, {
    transient: true,
    cause: error,
  });
}
