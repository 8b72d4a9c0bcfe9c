/** A fraction in lowest terms; `under` is positive. */
export type Rational = { readonly over: bigint; readonly under: bigint };

export function rational(over: bigint, under = 1n): Rational {
  const common = gcd(over < 0n ? -over : over, under < 0n ? -under : under);
  const sign = under < 0n ? -1n : 1n;
  return { over: (sign * over) / common, under: (sign * under) / common };
}

export const add = (a: Rational, b: Rational): Rational =>
  rational(a.over * b.under + b.over * a.under, a.under * b.under);
export const multiply = (a: Rational, b: Rational): Rational => rational(a.over * b.over, a.under * b.under);
export const divide = (a: Rational, b: Rational): Rational => rational(a.over * b.under, a.under * b.over);
export const negate = ({ over, under }: Rational): Rational => ({ over: -over, under });
export const compare = (a: Rational, b: Rational): number => Number(sign(a.over * b.under - b.over * a.under));

export function floorOf({ over, under }: Rational): bigint {
  const whole = over / under;
  return over < 0n && whole * under !== over ? whole - 1n : whole;
}

/** To 17 digits, even if numerator or denominator exceeds the range of a number. */
export function toNumber({ over, under }: Rational): number {
  const digits = over.toString().length - under.toString().length;
  const shift = BigInt(Math.max(0, 20 - digits));
  const scaled = (over * 10n ** shift) / under;
  return Number(`${scaled}e-${shift}`);
}

/** All digits if the decimal expansion ends; otherwise the fraction and 15 digits. */
export function shown(value: Rational): string {
  const places = decimalsOf(value.under);
  if (places === null) return `${value.over}/${value.under} ≈ ${Number(toNumber(value).toPrecision(15))}`;
  if (places === 0) return value.over.toString();
  const digits = ((value.over < 0n ? -value.over : value.over) * 10n ** BigInt(places)) / value.under;
  const text = digits.toString().padStart(places + 1, '0');
  return `${value.over < 0n ? '-' : ''}${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** Decimals of a fraction with this denominator; null where they go on for ever. */
function decimalsOf(under: bigint): number | null {
  let rest = under;
  const count = (prime: bigint) => {
    let times = 0;
    for (; rest % prime === 0n; times++) rest /= prime;
    return times;
  };
  const [twos, fives] = [count(2n), count(5n)];
  return rest === 1n ? Math.max(twos, fives) : null;
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

const sign = (whole: bigint): bigint => (whole > 0n ? 1n : whole < 0n ? -1n : 0n);
