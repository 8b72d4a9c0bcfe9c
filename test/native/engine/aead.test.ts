// The cipher of the prompt cache on disk, against the vectors of RFC 8439 and against the library that Node brings.
import { createCipheriv, createDecipheriv, randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { addon } from '../../support/addon.ts';

type Message = { key: Uint8Array; nonce: Uint8Array; additional: Uint8Array; message: Uint8Array; piece?: number };
const { aead, sameTag } = addon.testing as unknown as {
  aead(encrypts: boolean, message: Message): { message: Uint8Array; tag: Uint8Array };
  sameTag(a: Uint8Array, b: Uint8Array): boolean;
};
const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const counted = (first: number, length: number) => Buffer.from(Array.from({ length }, (_, i) => first + i));
const of = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('RFC 8439, 2.8.2: encryption', () => {
  const message = Buffer.from(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  );
  const given = {
    key: counted(0x80, 32),
    nonce: hex('070000004041424344454647'),
    additional: hex('50515253c0c1c2c3c4c5c6c7'),
  };
  const sealed = aead(true, { ...given, message });
  expect(of(sealed.message)).toBe(
    of(
      hex(`d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6 3dbea45e8ca9671282fafb69da92728b
        1a71de0a9e060b2905d6a5b67ecd3b36 92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
        3ff4def08e4b7a9de576d26586cec64b 6116`),
    ),
  );
  expect(of(sealed.tag)).toBe('1ae10b594f09e26a7e902ecbd0600691');
  const opened = aead(false, { ...given, message: sealed.message });
  expect(of(opened.message)).toBe(of(message));
  expect(of(opened.tag)).toBe(of(sealed.tag));
});

test('RFC 8439, A.5: decryption', () => {
  const opened = aead(false, {
    key: hex('1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0'),
    nonce: hex('000000000102030405060708'),
    additional: hex('f33388860000000000004e91'),
    message: hex(`64a0861575861af460f062c79be643bd 5e805cfd345cf389f108670ac76c8cb2 4c6cfc18755d43eea09ee94e382d26b0
      bdb7b73c321b0100d4f03b7f355894cf 332f830e710b97ce98c8a84abd0b9481 14ad176e008d33bd60f982b1ff37c855
      9797a06ef4f0ef61c186324e2b350638 3606907b6a7c02b0f9f6157b53c867e4 b9166c767b804d46a59b5216cde7a4e9
      9040c5a40433225ee282a1b0a06c523e af4534d7f83fa1155b0047718cbc546a 0d072b04b3564eea1b422273f548271a
      0bb2316053fa76991955ebd63159434e cebb4e466dae5a1073a6727627097a10 49e617d91d361094fa68f0ff77987130
      305beaba2eda04df997b714d6c6f2c29 a6ad5cb4022b02709b`),
  });
  expect(of(opened.tag)).toBe('eead9d67890cbb22392336fea1851f38');
  expect(Buffer.from(opened.message).toString()).toMatch(/^Internet-Drafts are draft documents .* progress\./);
});

/** Node's own, in both directions. */
function byNode(encrypts: boolean, { key, nonce, additional, message }: Message, tag?: Uint8Array): Buffer {
  const how = { authTagLength: 16 };
  if (!encrypts) {
    const decipher = createDecipheriv('chacha20-poly1305', key, nonce, how);
    decipher.setAAD(additional, { plaintextLength: message.length }).setAuthTag(tag as Uint8Array);
    return Buffer.concat([decipher.update(message), decipher.final()]);
  }
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, how);
  cipher.setAAD(additional, { plaintextLength: message.length });
  return Buffer.concat([cipher.update(message), cipher.final(), cipher.getAuthTag()]);
}

test('random keys, lengths and pieces: the same as Node gives, and Node reads it', () => {
  const lengths = [...Array.from({ length: 600 }, (_, i) => i), ...Array.from({ length: 400 }, () => randomInt(5001))];
  for (const length of lengths) {
    const given = {
      key: randomBytes(32),
      nonce: randomBytes(12),
      additional: randomBytes(randomInt(100)),
      message: randomBytes(length),
      piece: randomInt(1, 600),
    };
    const { message, tag } = aead(true, given);
    const why = `${length} bytes, ${given.piece} at a time, key ${of(given.key)}`;
    expect(of(message) + of(tag), why).toBe(of(byNode(true, given)));
    expect(byNode(false, { ...given, message }, tag).equals(given.message), why).toBe(true);
    const back = aead(false, { ...given, message });
    expect(of(back.message) + of(back.tag), why).toBe(of(given.message) + of(tag));
  }
});

test('numbers at the edge of what a limb holds', () => {
  for (const key of [new Uint8Array(32), new Uint8Array(32).fill(255), randomBytes(32)])
    for (const byte of [0, 255, 0x80])
      for (const length of [0, 15, 16, 17, 63, 64, 65, 255, 256, 257, 4096, 1_000_003]) {
        const given = { key, nonce: new Uint8Array(12).fill(byte), additional: new Uint8Array(16).fill(byte) };
        const message = new Uint8Array(length).fill(byte);
        const sealed = aead(true, { ...given, message, piece: 100_000 });
        const node = byNode(true, { ...given, message });
        expect(Buffer.concat([sealed.message, sealed.tag]).equals(node), `${byte}, ${length}`).toBe(true);
      }
});

const MODULUS = 2n ** 130n - 5n;
const little = (bytes: Uint8Array) => BigInt(`0x${of(Buffer.from(bytes).reverse())}`);
function inverse(of: bigint): bigint {
  let [result, base, left] = [1n, of % MODULUS, MODULUS - 2n];
  for (; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * base) % MODULUS;
    base = (base * base) % MODULUS;
  }
  return result;
}

/** One block of cipher text whose Poly1305 sum comes out as `sum`; null where no block of 16 bytes does that with this key. */
function blockFor(sum: bigint, key: Uint8Array, nonce: Uint8Array): Buffer | null {
  const first = createCipheriv('chacha20', key, Buffer.concat([new Uint8Array(4), nonce])).update(new Uint8Array(16));
  const back = inverse(little(first) & 0x0ffffffc0ffffffc0ffffffc0fffffffn);
  const lengths = (1n << 128n) + (16n << 64n);
  const before = (((sum * back - lengths) % MODULUS) + MODULUS) % MODULUS;
  const block = ((before * back) % MODULUS) - (1n << 128n);
  if (block < 0n || block >> 128n) return null;
  return Buffer.from(block.toString(16).padStart(32, '0'), 'hex').reverse();
}

test.each([0n, 1n, 4n, 5n, 2n ** 44n, 2n ** 88n, 2n ** 128n, MODULUS - 1n, MODULUS - 5n])(
  'a sum of %s modulo 2^130 - 5 is taken down to that',
  (sum) => {
    const nonce = new Uint8Array(12);
    let tried = 0;
    for (let seed = 0; tried < 40; seed++) {
      const key = new Uint8Array(32).fill(seed & 255, 0, 16).fill(seed >> 8, 16);
      const message = blockFor(sum, key, nonce);
      if (!message) continue;
      tried++;
      const given = { key, nonce, additional: new Uint8Array(), message };
      const opened = aead(false, given);
      expect(of(byNode(false, given, opened.tag)), `key ${seed}`).toBe(of(opened.message));
    }
  },
);

test('tags are the same only in all bits', () => {
  const tag = randomBytes(16);
  expect(sameTag(tag, Buffer.from(tag))).toBe(true);
  for (let bit = 0; bit < 128; bit++) {
    const other = Buffer.from(tag);
    other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(sameTag(tag, other), `${bit}`).toBe(false);
  }
});
