import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { LonghandError } from '../protocol/index.ts';
import { readRegularSync } from '../store/folder/open-regular.ts';
import { type Certificate, selfSigned } from './certificate.ts';

//  Who this computer is in its local network: its addresses, its names, and the certificate that proves them.

/** Addresses of this computer in its networks. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    // An address of a single link has to be written with the name of the interface, which no URL can be relied on to carry.
    .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
    .map(({ address }) => address);

/** Names by which other devices may know it. */
export function ownNames(): string[] {
  const name = hostname().toLowerCase();
  if (!/^[a-z0-9.-]{1,253}$/.test(name)) return [];
  return name.includes('.') ? [name] : [name, `${name}.local`];
}

/** Files of the user's own certificate, in PEM. */
export type CertificateFiles = { certificate: string; key: string };

/** `fingerprint`: SHA-256, as browsers show it. */
export type Identity = Certificate & { fingerprint: string; names: readonly string[]; addresses: readonly string[] };

const FOLDER = 'server-certificate';
const MAX_BYTES = 1024 * 1024;
const DAY_MS = 86_400_000;
/** Apple's limit for certificates that a user trusts by hand is 825 days. */
const DAYS = 730;
const RENEW_DAYS = 30;

/** The user's own certificate if there is one, otherwise the one in the data folder, which is made and renewed here.
 *  @throws LonghandError `unreadable`, `not-found`, `permission` for files of the user */
export function identityIn(dataFolder: string, own: CertificateFiles | null, now = Date.now()): Identity {
  const [names, addresses] = [ownNames(), ownAddresses()];
  const pair = own ? readOwn(own) : selfMade(join(dataFolder, FOLDER), [...names, ...addresses], now);
  const certificate = new X509Certificate(pair.cert);
  return { ...pair, fingerprint: certificate.fingerprint256, names: [...names, ...namesIn(certificate)], addresses };
}

function readOwn({ certificate, key }: CertificateFiles): Certificate {
  const pair = {
    cert: readRegularSync(certificate, MAX_BYTES).toString(),
    key: readRegularSync(key, MAX_BYTES).toString(),
  };
  try {
    createSecureContext(pair);
    const first = new X509Certificate(pair.cert);
    if (Date.parse(first.validTo) < Date.now()) throw new Error(`it expired on ${first.validTo}`);
    return pair;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new LonghandError(
      'unreadable',
      `[certificate] ${certificate} with ${key}: ${why}; a certificate in PEM and its own key without a password are allowed`,
    );
  }
}

function selfMade(folder: string, names: readonly string[], now: number): Certificate {
  const files = { cert: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  const before = readMade(files);
  if (before && isGood(before, names, now)) return before;
  const made = selfSigned({
    names: names.length > 0 ? names : ['localhost'],
    title: `Longhand on ${names[0] ?? 'this computer'}`.slice(0, 64),
    from: new Date(now - DAY_MS),
    until: new Date(now + DAYS * DAY_MS),
    // With the same key a client that has pinned it keeps its trust.
    key: before?.key,
  });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  for (const part of ['key', 'cert'] as const) {
    writeFileSync(files[part], made[part], { mode: 0o600 });
    chmodSync(files[part], 0o600);
  }
  return made;
}

/** Null if there is none, or it is damaged. */
function readMade(files: Certificate): Certificate | null {
  try {
    const pair = {
      cert: readRegularSync(files.cert, MAX_BYTES).toString(),
      key: readRegularSync(files.key, MAX_BYTES).toString(),
    };
    createSecureContext(pair);
    return pair;
  } catch {
    return null;
  }
}

function isGood({ cert }: Certificate, names: readonly string[], now: number): boolean {
  const certificate = new X509Certificate(cert);
  const lasts = Date.parse(certificate.validTo) - now > RENEW_DAYS * DAY_MS && Date.parse(certificate.validFrom) <= now;
  return lasts && names.every((name) => (certificate.checkHost(name) ?? certificate.checkIP(name)) !== undefined);
}

const namesIn = ({ subjectAltName = '' }: X509Certificate): string[] =>
  [...subjectAltName.matchAll(/DNS:((?:\*\.)?[a-z0-9.-]+)/gi)].map(([, name = '']) => name.toLowerCase());
