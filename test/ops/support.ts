// The two questions every op is asked: is this device near the reference, and does it matter how rows are split into passes?
import { expect, test } from 'vitest';
import { soaking } from '../support/soak.ts';
import { type Arguments, type Device, nameOf, others, reference, watched } from './devices.ts';
import { bytes, relativeDifference, splits } from './numbers.ts';
import { thresholds } from './thresholds.ts';

// Mesa's software driver compiles each kernel with LLVM; optimised, that takes longer than the few rows of a test run.
process.env.GALLIVM_PERF ??= 'nopt';

type Numbers = Float32Array | Int32Array;
export type Outcome = (device: Device, args: Arguments) => readonly Numbers[];

/** Watching every access of a kernel takes some hundred times as long: few rows only, and all of them in `npm run test:soak`. */
const maxWatched = soaking ? Number.POSITIVE_INFINITY : 2;

/** What `make` gives, made once for all devices that are asked the same; of many questions the oldest goes. */
export function madeOnce<T>(make: () => T): () => T {
  return () => {
    if (!kept.has(make)) {
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value as () => unknown);
      kept.set(make, make());
    }
    return kept.get(make) as T;
  };
}
const kept = new Map<() => unknown, unknown>();
/** The fast path asks every device five questions. */
const KEPT = 8;

/** Bit for bit. Comparing bytes is a hundred times as fast as comparing numbers one by one, which says more where they differ. */
export function expectSameBits(actual: Numbers, expected: Numbers): void {
  if (Buffer.compare(bytes(actual), bytes(expected)) !== 0) expect(actual).toEqual(expected);
}

/** Every other device gives the reference's numbers (within `threshold`) and leaves nothing unwritten; Metal's kernels with few
 *  rows are watched by the stand-in while they do. */
export function parity(title: string, outcome: Outcome, args: () => Arguments, threshold: number): void {
  const inputs = madeOnce(args);
  const wanted = madeOnce(() => outcome(reference, inputs()));
  for (const device of others) {
    test(`${title}: ${nameOf(device)} = reference`, () => {
      const given = inputs();
      const small = typeof given.rows === 'number' && given.rows <= maxWatched;
      const actual = small ? watched(device, () => outcome(device, given)) : outcome(device, given);
      wanted().forEach((expected, i) => {
        expect(relativeDifference(actual[i] as Numbers, expected)).toBeLessThan(threshold);
      });
    });
  }
}

/** Feeding rows in passes of 1, 7 and 64 gives the numbers of one pass, on every device. A GPU adds in another order above
 *  eight rows, where it changes from the matvec to the tiled product: equal to rounding there, not to the bit. */
export function chunks(
  title: string,
  outcome: Outcome,
  args: () => Arguments & { rows: number },
  threshold: number = thresholds.chunks,
): void {
  const inputs = madeOnce(args);
  for (const device of [reference, ...others]) {
    test(`${title}: ${nameOf(device)} in passes of 1, 7, 64 = at once`, () => {
      const given = inputs();
      const whole = outcome(device, given);
      const allowed = device.backEnd === 'cpu' ? threshold : Math.max(threshold, thresholds.chunks);
      for (const split of splits(given.rows)) {
        outcome(device, { ...given, chunks: split }).forEach((part, i) => {
          if (allowed === 0) expectSameBits(part, whole[i] as Numbers);
          else expect(relativeDifference(part, whole[i] as Numbers)).toBeLessThan(allowed);
        });
      }
    });
  }
}
