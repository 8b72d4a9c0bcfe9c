import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

//  Who may talk to the browser host. Any page of the web can send requests to 127.0.0.1, so two things are asked:
//    Host    is ours by name (a foreign name that resolves to 127.0.0.1 is not: DNS rebinding),
//    Origin  is ours where a browser names one.
//  Other users of the machine can send whatever they like, so everything but the page itself wants a secret. All of them are made
//  anew at each start and kept in memory only:
//    key     may ask for tickets; stands in the data folder, which its owner alone can read,
//    ticket  stands in an address that is opened or printed; lets one page in, once,
//    secret  of a page that came in; it keeps it for as long as its tab is open. No cookie: those go to every port of a host.

export type Access = {
  readonly key: string;
  hostAllowed(host: string | undefined): boolean;
  /** A request without Origin is a navigation or no browser at all; a socket always has to name one. */
  originAllowed(origin: string | undefined, options?: { required: boolean }): boolean;
  keyRight(given: string | undefined): boolean;
  ticket(): string;
  /** The secret for a ticket, which is then worth nothing. */
  enter(ticket: string): string | null;
  secretRight(given: string | undefined): boolean;
};

/** Tickets that nobody used, and pages that came in: the oldest goes for the next. */
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

/** Only the hashes are kept. */
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
/** In a time that does not tell where two differ. */
const same = (a: Buffer, b: Buffer): boolean => timingSafeEqual(a, b);
