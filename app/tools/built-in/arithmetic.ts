import {
  add,
  compare,
  divide,
  floorOf,
  multiply,
  negate,
  type Rational,
  rational,
  shown,
  toNumber,
} from './rational.ts';

//  sum      product (('+' | '-') product)*
//  product  sign (('*' | '/' | '%' | 'of') sign)*
//  sign     ('-' | '+')* power
//  power    postfix ('^' sign)?                       to the right: 2^3^2 is 2^9
//  postfix  atom ('!' | '%' before what is no number)*
//  atom     number | constant | function '(' sum (',' sum)* ')' | '(' sum ')'

/** Exact as long as only fractions are involved; roots, logarithms and the like are numbers of 15 digits. */
type Value = Rational | number;

const MAX_LENGTH = 2000;
const MAX_DEPTH = 100;
/** Of a whole number; about 30,000 digits. */
const MAX_BITS = 100_000;
const MAX_FACTORIAL = 2000;

/** @throws Error with what is wrong and where */
export function evaluate(text: string): string {
  if (text.length > MAX_LENGTH)
    throw new Error(`the expression has ${text.length} characters, ${MAX_LENGTH} are allowed`);
  const tokens = tokensOf(text);
  let at = 0;
  let depth = 0;
  const sees = (...signs: string[]) => signs.includes(tokens[at] ?? '');
  const takes = (sign: string) => sees(sign) && ++at > 0;
  const need = (sign: string) => {
    if (!takes(sign))
      throw new Error(`"${sign}" is missing ${at < tokens.length ? `before "${tokens[at]}"` : 'at the end'}`);
  };

  function sum(): Value {
    if (++depth > MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} parentheses in each other`);
    let value = product();
    while (sees('+', '-')) {
      const minus = tokens[at++] === '-';
      const next = product();
      value = both(value, minus ? negated(next) : next, add, (a, b) => a + b);
    }
    depth--;
    return value;
  }

  function product(): Value {
    let value = sign();
    while (sees('*', '/', '%', 'of')) {
      const by = tokens[at++];
      const next = sign();
      value = by === '/' ? quotient(value, next) : by === '%' ? remainder(value, next) : times(value, next);
    }
    return value;
  }

  function sign(): Value {
    let minus = false;
    while (sees('+', '-')) minus = (tokens[at++] === '-') !== minus;
    const value = power();
    return minus ? negated(value) : value;
  }

  function power(): Value {
    const base = postfix();
    return takes('^') ? raised(base, exponent()) : base;
  }

  function exponent(): Value {
    if (++depth > MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} powers of each other`);
    const value = sign();
    depth--;
    return value;
  }

  function postfix(): Value {
    let value = atom();
    for (;;) {
      if (takes('!')) value = factorial(value);
      else if (sees('%') && !OPERAND.test(tokens[at + 1] ?? '')) {
        at++;
        value = quotient(value, rational(100n));
      } else return value;
    }
  }

  function atom(): Value {
    const token = tokens[at++];
    if (token === undefined) throw new Error('the expression ends too early');
    if (token === '(') {
      const value = sum();
      need(')');
      return value;
    }
    if (/^[\d.]/.test(token)) return numberOf(token);
    if (Object.hasOwn(CONSTANTS, token)) return CONSTANTS[token] as number;
    if (!Object.hasOwn(FUNCTIONS, token)) throw new Error(`"${token}" is unknown here`);
    need('(');
    const given = [sum()];
    while (takes(',')) given.push(sum());
    need(')');
    return (FUNCTIONS[token] as Function_)(given);
  }

  const value = sum();
  if (at < tokens.length) throw new Error(`"${tokens[at]}" is not expected there`);
  if (typeof value !== 'number') return shown(value);
  if (!Number.isFinite(value)) throw new Error('the result is no finite number');
  return `${Number(value.toPrecision(15))}`;
}

const OPERAND = /^(?!of$)[\d.(a-z]/;

function tokensOf(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replaceAll('**', '^')
    .replace(/[×·⋅]/g, '*')
    .replace(/[÷∕]/g, '/')
    .replace(/[−–]/g, '-');
  const tokens: string[] = [];
  const next = /\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|[a-z][a-z0-9]*|π|[-+*/^%!(),])/y;
  while (plain.slice(next.lastIndex).trim() !== '') {
    const from = next.lastIndex;
    const found = next.exec(plain);
    if (!found?.[1]) throw new Error(`"${plain.slice(from).trim().slice(0, 20)}" is unknown here`);
    tokens.push(found[1] === 'π' ? 'pi' : found[1]);
  }
  if (tokens.length === 0) throw new Error('the expression is empty');
  return tokens;
}

function numberOf(token: string): Rational {
  const [, whole = '', part = '', power = '0'] = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/.exec(token) ?? [];
  const exponent = Number(power) - part.length;
  if (Math.abs(exponent) > MAX_LENGTH) throw new Error(`"${token}" is too large or too small`);
  const digits = BigInt(whole + part);
  return exponent >= 0 ? rational(digits * 10n ** BigInt(exponent)) : rational(digits, 10n ** BigInt(-exponent));
}

function both(
  a: Value,
  b: Value,
  exact: (a: Rational, b: Rational) => Rational,
  close: (a: number, b: number) => number,
): Value {
  if (typeof a === 'number' || typeof b === 'number') return close(toFloat(a), toFloat(b));
  return small(exact(a, b));
}

const toFloat = (value: Value): number => (typeof value === 'number' ? value : toNumber(value));
const negated = (value: Value): Value => (typeof value === 'number' ? -value : negate(value));
const times = (a: Value, b: Value): Value => both(a, b, multiply, (x, y) => x * y);

function quotient(a: Value, b: Value): Value {
  if (toFloat(b) === 0 && (typeof b === 'number' || b.over === 0n)) throw new Error('division by zero');
  return both(a, b, divide, (x, y) => x / y);
}

/** With the sign of the divisor, as in mathematics: -7 % 3 is 2. */
function remainder(a: Value, b: Value): Value {
  if (typeof b === 'number' ? b === 0 : b.over === 0n) throw new Error('division by zero');
  const exact = (x: Rational, y: Rational) => add(x, negate(multiply(y, rational(floorOf(divide(x, y))))));
  return both(a, b, exact, (x, y) => x - y * Math.floor(x / y));
}

function raised(base: Value, exponent: Value): Value {
  if (typeof base === 'number' || typeof exponent === 'number' || exponent.under !== 1n) {
    return toFloat(base) ** toFloat(exponent);
  }
  const times = exponent.over < 0n ? -exponent.over : exponent.over;
  if (exponent.over < 0n && base.over === 0n) throw new Error('division by zero');
  const bits = Math.max(bitsOf(base.over), bitsOf(base.under));
  // 0, 1 and -1 stay as small as they are; everything else grows above or below.
  const grows = base.over > 1n || base.over < -1n || base.under > 1n;
  if (grows && times * BigInt(bits) > MAX_BITS) throw new Error('the result is too large');
  const power = rational(base.over ** times, base.under ** times);
  return exponent.over < 0n ? divide(rational(1n), power) : power;
}

function factorial(value: Value): Value {
  const whole = wholeOf(value, '!');
  if (whole < 0n || whole > MAX_FACTORIAL) throw new Error(`! takes whole numbers from 0 to ${MAX_FACTORIAL}`);
  let product = 1n;
  for (let i = 2n; i <= whole; i++) product *= i;
  return rational(product);
}

function wholeOf(value: Value, of: string): bigint {
  if (typeof value === 'number' || value.under !== 1n) throw new Error(`${of} takes whole numbers`);
  return value.over;
}

const bitsOf = (whole: bigint): number => whole.toString(16).replace('-', '').length * 4;

function small(value: Rational): Rational {
  if (Math.max(bitsOf(value.over), bitsOf(value.under)) > 2 * MAX_BITS) throw new Error('the result is too large');
  return value;
}

type Function_ = (given: readonly Value[]) => Value;

const CONSTANTS: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

const one =
  (name: string, of: (value: Value) => Value): Function_ =>
  (given) => {
    const [value] = given;
    if (value === undefined || given.length > 1) throw new Error(`${name} takes one number`);
    return of(value);
  };
const float = (name: string, of: (value: number) => number) => one(name, (value) => of(toFloat(value)));
const rounding = (name: string, of: (value: Rational) => bigint, close: (value: number) => number) =>
  one(name, (value) => (typeof value === 'number' ? close(value) : rational(of(value))));

/** Half a unit goes away from zero, as at school. */
function rounded(given: readonly Value[]): Value {
  const [value, digits = rational(0n)] = given;
  if (value === undefined || given.length > 2) throw new Error('round takes a number and how many digits');
  const places = wholeOf(digits, 'the second number of round');
  if (places < -300n || places > 300n) throw new Error('round takes from -300 to 300 digits');
  if (typeof value === 'number') return Number(`${Math.round(Number(`${value}e${places}`))}e${-places}`);
  const scale = places >= 0n ? rational(10n ** places) : rational(1n, 10n ** -places);
  const scaled = multiply(value, scale);
  const away = scaled.over < 0n ? negate(scaled) : scaled;
  const whole = rational(floorOf(add(away, rational(1n, 2n))));
  return divide(scaled.over < 0n ? negate(whole) : whole, scale);
}

const best = (name: string, wants: number) => (given: readonly Value[]) =>
  given.reduce((a, b) => {
    if (typeof a !== 'number' && typeof b !== 'number') return compare(b, a) * wants > 0 ? b : a;
    const [x, y] = [toFloat(a), toFloat(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) throw new Error(`${name} takes numbers`);
    return (y - x) * wants > 0 ? b : a;
  });

const gcdOf = (a: bigint, b: bigint): bigint => {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
};
const wholes = (name: string, of: (a: bigint, b: bigint) => bigint) => (given: readonly Value[]) =>
  small(rational(given.map((value) => wholeOf(value, name)).reduce(of)));

/** A root that is exact where it can be: sqrt(2.25) is 1.5. */
function root(value: Value): Value {
  if (typeof value === 'number') return Math.sqrt(value);
  const [over, under] = [wholeRoot(value.over), wholeRoot(value.under)];
  return over !== null && under !== null ? rational(over, under) : Math.sqrt(toNumber(value));
}

function wholeRoot(square: bigint): bigint | null {
  if (square < 0n) return null;
  let guess = 1n << BigInt(Math.ceil(bitsOf(square) / 2) + 1);
  for (;;) {
    const next = (guess + square / guess) >> 1n;
    if (next >= guess) return guess * guess === square ? guess : null;
    guess = next;
  }
}

const FUNCTIONS: Readonly<Record<string, Function_>> = {
  sqrt: one('sqrt', root),
  abs: one('abs', (value) => (toFloat(value) < 0 ? negated(value) : value)),
  round: rounded,
  floor: rounding('floor', floorOf, Math.floor),
  ceil: rounding('ceil', (value) => -floorOf(negate(value)), Math.ceil),
  min: best('min', -1),
  max: best('max', 1),
  gcd: wholes('gcd', gcdOf),
  lcm: wholes('lcm', (a, b) => (a === 0n || b === 0n ? 0n : (a / gcdOf(a, b)) * b)),
  exp: float('exp', Math.exp),
  ln: float('ln', Math.log),
  log10: float('log10', Math.log10),
  log2: float('log2', Math.log2),
  sin: float('sin', Math.sin),
  cos: float('cos', Math.cos),
  tan: float('tan', Math.tan),
  asin: float('asin', Math.asin),
  acos: float('acos', Math.acos),
  atan: float('atan', Math.atan),
};
