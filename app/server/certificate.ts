import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';

//  Self-signed certificates (X.509 v3, RFC 5280), which Node can read but not write. The libraries that can bring fifteen packages
//  for these hundred lines.

/** In PEM. */
export type Certificate = { cert: string; key: string };

export type CertificateOptions = {
  /** Names and IP addresses it is valid for. */
  names: readonly string[];
  /** The name shown in a list of certificates. */
  title: string;
  from: Date;
  until: Date;
  /** An existing P-256 key, in PEM; by default a new one. */
  key?: string | undefined;
};

export function selfSigned({ names, title, from, until, key }: CertificateOptions): Certificate {
  const privateKey = key === undefined ? newKey() : createPrivateKey(key);
  const name = sequence(set(sequence(oid(2, 5, 4, 3), der(UTF8, Buffer.from(title)))));
  const critical = der(BOOLEAN, Buffer.from([0xff]));
  const extensions = sequence(
    sequence(oid(2, 5, 29, 17), der(OCTETS, sequence(...names.map(alternative)))),
    // Good for a server, and not for signing other certificates, should its key be stolen.
    sequence(oid(2, 5, 29, 19), critical, der(OCTETS, sequence())),
    sequence(oid(2, 5, 29, 15), critical, der(OCTETS, der(BITS, Buffer.from([7, 0x80])))),
    sequence(oid(2, 5, 29, 37), der(OCTETS, sequence(oid(1, 3, 6, 1, 5, 5, 7, 3, 1)))),
  );
  const body = sequence(
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    sequence(time(from), time(until)),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(BITS, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const lines =
    sequence(body, ECDSA_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const [BOOLEAN, INTEGER, BITS, OCTETS, UTF8, SHORT_TIME, TIME] = [0x01, 0x02, 0x03, 0x04, 0x0c, 0x17, 0x18];

/** One value of DER, at most 64 KB. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));

function oid(first: number, second: number, ...rest: number[]): Buffer {
  const digits = (value: number): number[] =>
    value < 128 ? [value] : [...digits(value >> 7).map((digit) => digit | 128), value & 127];
  return der(0x06, Buffer.from([40 * first + second, ...rest.flatMap(digits)]));
}

const ECDSA_SHA256 = sequence(oid(1, 2, 840, 10045, 4, 3, 2));

/** With two digits for the year until 2049, as RFC 5280, 4.1.2.5 demands. */
function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/[-:T]|\..*/g, '')}Z`;
  return at.getUTCFullYear() < 2050 ? der(SHORT_TIME, Buffer.from(digits.slice(2))) : der(TIME, Buffer.from(digits));
}

const alternative = (name: string) =>
  isIP(name) === 0
    ? der(0x82, Buffer.from(name))
    : der(0x87, Buffer.from(isIPv6(name) ? bytesOfIPv6(name) : bytesOfIPv4(name)));

const bytesOfIPv4 = (address: string): number[] => address.split('.').map(Number);

function bytesOfIPv6(address: string): number[] {
  // Node writes the address of a machine without embedded IPv4.
  const [before = '', after] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [head, tail] = [groups(before), after === undefined ? [] : groups(after)];
  const all = [...head, ...Array(8 - head.length - tail.length).fill(0), ...tail];
  return all.flatMap((group) => [group >> 8, group & 0xff]);
}
