import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

//  Certificates for test servers (X.509, RFC 5280), made with Node alone: no program is run, and no key is in the tree.

export type Certificate = { key: string; cert: string };

type Wishes = {
  /** The addresses or names it is valid for; 127.0.0.1 by default. */
  names?: readonly string[];
  from?: Date;
  until?: Date;
};

const dayMs = 86_400_000;

/** A self-signed certificate. */
export function selfSigned(wishes: Wishes = {}): Certificate {
  const { names = ['127.0.0.1'], from = new Date(Date.now() - dayMs), until = new Date(Date.now() + dayMs) } = wishes;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid(2, 5, 4, 3), der(UTF8, Buffer.from(`test ${names[0]}`)))));
  const alternatives = sequence(...names.map(alternative));
  const extensions = sequence(
    sequence(oid(2, 5, 29, 17), der(OCTETS, alternatives)),
    sequence(oid(2, 5, 29, 19), der(OCTETS, sequence(der(BOOLEAN, Buffer.from([0xff]))))),
  );
  const body = sequence(
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    name,
    sequence(time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(BITS, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]));
  const lines =
    sequence(body, ECDSA_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

const [BOOLEAN, INTEGER, BITS, OCTETS, UTF8, TIME] = [0x01, 0x02, 0x03, 0x04, 0x0c, 0x18];

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

const time = (at: Date) => der(TIME, Buffer.from(`${at.toISOString().replace(/[-:T]|\..*/g, '')}Z`));

const alternative = (name: string) =>
  /^[\d.]+$/.test(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));
