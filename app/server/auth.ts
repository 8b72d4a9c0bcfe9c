import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

//  Access control of the browser host. Any web page can send requests to 127.0.0.1, so two headers are checked:
//    Host    must be ours (a foreign name that resolves to 127.0.0.1 is not: DNS rebinding),
//    Origin  must be ours if a browser sends one.
//  Other users of the machine can send arbitrary requests, so everything but the page itself requires a secret. All of them are
//  new at each start and kept in memory only:
//    key     for requesting tickets; stored in the data folder, which only its owner can read,
//    ticket  part of a URL that is opened or printed; admits one page, once,
//    secret  of an admitted page, kept while its tab is open. Not a cookie: those are sent to every port of a host.

export type Access = {
  readonly key: string;
  hostAllowed(host: string | undefined): boolean;
  /** A request without Origin is a navigation or not from a browser; sockets always require one. */
  originAllowed(origin: string | undefined, options?: { required: boolean }): boolean;
  keyRight(given: string | undefined): boolean;
  ticket(): string;
  /** Exchanges a ticket for a secret; the ticket is invalid afterwards. */
  enter(ticket: string): string | null;
  secretRight(given: string | undefined): boolean;
};

/** Maximum unused tickets, and admitted pages: the oldest is dropped for the next. */
const most = 100;

export function createAccess(port: number): Access {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const origins = hosts.map((host) => `http://${host}`);
  const tickets = createSecrets();
  const pages = createSecrets();
  const key = newSecret();
  return {
    key,
    hostAllowed: (host) => host !== undefined && hosts.includes(host.toLowerCase()),
    originAllowed: (origin, options) =>
      origin === undefined ? !options?.required : origins.includes(origin.toLowerCase()),
    keyRight: (given) => given !== undefined && same(digest(given), digest(key)),
    ticket: tickets.make,
    enter: (ticket) => (tickets.take(ticket) ? pages.make() : null),
    secretRight: (given) => given !== undefined && pages.has(given),
  };
}

/** Stores hashes only. */
function createSecrets() {
  let hashes: Buffer[] = [];
  const find = (given: string) => {
    const hash = digest(given);
    return hashes.filter((known) => same(known, hash));
  };
  return {
    make() {
      const secret = newSecret();
      hashes = [...hashes, digest(secret)].slice(-most);
      return secret;
    },
    has: (given: string) => find(given).length > 0,
    take(given: string) {
      const found = find(given);
      hashes = hashes.filter((known) => !found.includes(known));
      return found.length > 0;
    },
  };
}

const newSecret = () => randomBytes(32).toString('base64url');
const digest = (text: string) => createHash('sha256').update(text).digest();
/** Constant-time comparison. */
const same = (a: Buffer, b: Buffer): boolean => timingSafeEqual(a, b);
