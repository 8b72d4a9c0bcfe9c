import http from 'node:http';
import tls from 'node:tls';
import { LonghandError, type Settings } from '../../protocol/index.ts';
import { readRegularSync } from '../../store/folder/open-regular.ts';
import { hidePasswordsOf } from './redact-credentials.ts';

type Wishes = Pick<Settings, 'proxy' | 'extraCaCertificates'>;

/** Node's own certificates, once others were added. */
let own: string[] | null = null;
let restore = () => {};

const proxies = (address: string) => ({
  http_proxy: address,
  https_proxy: address,
  HTTP_PROXY: address,
  HTTPS_PROXY: address,
});

/** Configures the network for every request of this process: proxy and certificates set by the user, or else those
 *  of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY; NODE_EXTRA_CA_CERTS is read by Node itself).
 *  @throws LonghandError `unreadable` if the file contains no certificate */
export function takeRoute({ proxy, extraCaCertificates }: Wishes): void {
  const more = extraCaCertificates === null ? [] : certificatesIn(extraCaCertificates);
  restore();
  const { env } = process;
  hidePasswordsOf([proxy, env.HTTP_PROXY, env.HTTPS_PROXY, env.http_proxy, env.https_proxy]);
  restore = http.setGlobalProxyFromEnv(proxy === null ? process.env : { ...process.env, ...proxies(proxy) });
  if (own === null && more.length === 0) return;
  own ??= tls.getCACertificates('default');
  tls.setDefaultCACertificates([...own, ...more]);
}

/** Validates a proxy: scheme, host and port; Node accepts no path.
 *  @throws LonghandError `bad-request` */
export function needProxy(address: string): void {
  const { host, pathname, search, hash } = new URL(address);
  if (!host || pathname !== '/' || search || hash) {
    throw new LonghandError(
      'bad-request',
      `[proxy] "${host}${pathname}" is not a host with a port, as in http://proxy:3128`,
    );
  }
}

/** For comparison, all root certificates of Mozilla together are a quarter of a megabyte. */
const maxCertificateBytes = 4 * 1024 * 1024;

/** The certificates of a PEM file. */
export function certificatesIn(path: string): string[] {
  let text: string;
  try {
    text = readRegularSync(path, maxCertificateBytes).toString('utf8');
  } catch (error) {
    throw new LonghandError('unreadable', `[certificates] ${path} cannot be read`, { cause: error });
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) {
    throw new LonghandError('unreadable', `[certificates] ${path} contains no certificate; expected a PEM file`);
  }
  return found;
}

/** Validates a mirror: its URL is displayed and stored, so it must not contain credentials. @throws LonghandError `bad-request` */
export function needMirror(address: string): void {
  const { username, password, host, search, hash } = new URL(address);
  if (username !== '' || password !== '' || search || hash) {
    throw new LonghandError(
      'bad-request',
      `[mirror] the address of ${host} must not contain a name, a password or a query; expected an address like https://mirror.example`,
    );
  }
}
