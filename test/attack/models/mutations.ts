//  Mutations of valid model files, deterministic for a seed.

export type Random = (below: number) => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

export const oneOf = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;

const LENGTHS = [
  0n,
  1n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n,
  2n ** 62n,
  2n ** 63n,
  2n ** 64n - 1n,
];

/** Mutates header bytes: flipped bits, huge lengths, parts removed, duplicated or swapped, truncation. */
export function changedBytes(sound: Buffer, header: number, random: Random): Buffer {
  const bytes = Buffer.from(sound);
  for (let change = 1 + random(3); change > 0; change--) {
    const at = random(Math.max(1, Math.min(header, bytes.length - 8)));
    switch (random(7)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
        break;
      case 1:
        bytes[at] = random(256);
        break;
      case 2:
        bytes.writeBigUInt64LE(oneOf(random, LENGTHS), at);
        break;
      case 3:
        bytes.writeUInt32LE(oneOf(random, [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, random(64)]), at);
        break;
      case 4:
        bytes.copyWithin(at, random(header), random(header));
        break;
      case 5:
        bytes.fill(oneOf(random, [0, 0xff, 0x7f, 0x20]), at, Math.min(header, at + 1 + random(16)));
        break;
      default:
        if (random(4) === 0) return bytes.subarray(0, random(bytes.length));
    }
  }
  return bytes;
}

const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) as unknown;

/** Replacements for JSON values. */
export const HOSTILE: readonly unknown[] = [
  0,
  -1,
  1,
  0.5,
  -0.5,
  3,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e300,
  1e-300,
  '',
  '0',
  'x'.repeat(100_000),
  '\0',
  '\ud800',
  '../../../etc/passwd',
  null,
  true,
  false,
  [],
  {},
  [0],
  [-1],
  [null],
  [2 ** 31, 2 ** 31],
  Array(10_000).fill(1),
  { a: { a: {} } },
  deep,
];

type Json = Record<string, unknown> | unknown[];
const isBranch = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Replaces, removes or duplicates one random node of a JSON tree. */
export function changedJson(sound: unknown, random: Random, hostile: readonly unknown[] = HOSTILE): unknown {
  const root = structuredClone(sound);
  let branch = root as Json;
  for (;;) {
    const keys = Object.keys(branch);
    if (keys.length === 0) break;
    const key = oneOf(random, keys);
    const value = (branch as Record<string, unknown>)[key];
    if (isBranch(value) && random(4) > 0) {
      branch = value;
      continue;
    }
    const change = random(8);
    if (change === 0 && !Array.isArray(branch)) delete branch[key];
    else if (change === 1) (branch as Record<string, unknown>)[oneOf(random, keys)] = value;
    else (branch as Record<string, unknown>)[key] = oneOf(random, hostile);
    break;
  }
  return root;
}
