import { expect, test } from 'vitest';
import { evaluate } from '../../../../app/tools/built-in/arithmetic.ts';

test.each([
  ['0.1 + 0.2', '0.3'],
  ['1/3 + 1/6', '0.5'],
  ['1/3', '1/3 ≈ 0.333333333333333'],
  ['-2^2', '-4'],
  ['2^3^2', '512'],
  ['2^-3', '0.125'],
  ['(1249.90 + 80) * 19%', '252.681'],
  ['15% of 80', '12'],
  ['10 % 3', '1'],
  ['-7 % 3', '2'],
  ['5 × 4 ÷ 2 − 1', '9'],
  ['50!', '30414093201713378043612608166064768844377641568960512000000000000'],
  ['9999999999999999 * 9999999999999999', '99999999999999980000000000000001'],
  ['100! / 98!', '9900'],
  ['sqrt(2.25)', '1.5'],
  ['sqrt(10^40)', '100000000000000000000'],
  ['sqrt(2)', '1.4142135623731'],
  ['sqrt(2) + 1', '2.41421356237309'],
  ['1 - sqrt(2)', '-0.414213562373095'],
  ['round(2.345, 2)', '2.35'],
  ['round(-2.5)', '-3'],
  ['floor(-2.5) + ceil(-2.5)', '-5'],
  ['max(1, 2.5, pi)', '3.14159265358979'],
  ['gcd(12, 18) * lcm(4, 6)', '72'],
  ['1e3 * 2.5E-1', '250'],
  ['log10(1000)', '3'],
  ['(-1) ^ 1000001', '-1'],
])('%s is %s', (expression, value) => expect(evaluate(expression)).toBe(value));

// A model writes these, and the process that answers computes them.
test.each(['2 ^ 400000', '0.5 ^ 400000', '(1 / 9) ^ 400000', '2 ^ -400000'])('%s is refused at once', (expression) => {
  const began = performance.now();
  expect(() => evaluate(expression)).toThrow('too large');
  expect(performance.now() - began).toBeLessThan(100);
});

test.each([
  ['1 / 0', 'division by zero'],
  ['0 ^ -1', 'division by zero'],
  ['2 ^ 99999999', 'too large'],
  ['9 ^ 9 ^ 9 ^ 9', 'too large'],
  ['(2 ^ 20000 * 2 ^ 20000 * 2 ^ 20000) ^ 20000', 'too large'],
  [`2000!${'*2000!'.repeat(300)}`, 'too large'],
  ['9999!', 'from 0 to 2000'],
  ['1,234', '"," is not expected'],
  ['(1', '")" is missing'],
  ['', 'is empty'],
  ['process.exit()', 'is unknown'],
  ['constructor(1)', '"constructor" is unknown'],
  ['toString', '"tostring" is unknown'],
  ['(-8) ^ (1/3)', 'no finite number'],
  ['max(asin(2), 1)', 'max takes numbers'],
  ['min(1, 2, sqrt(-1))', 'min takes numbers'],
  [`${'('.repeat(500)}1${')'.repeat(500)}`, 'more than 100 parentheses'],
  [`1${'^-1'.repeat(500)}`, 'more than 100 powers'],
  ['1'.repeat(3000), '2000 are allowed'],
])('%s is refused with a reason, and soon', (expression, reason) => {
  const begin = process.cpuUsage();
  expect(() => evaluate(expression)).toThrow(reason);
  expect(process.cpuUsage(begin).user / 1000).toBeLessThan(1000);
});

test('whole sums agree with those of the machine', () => {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 500; round++) {
    let text = `${next(1000)}`;
    for (let i = 0; i < 5; i++) text += ` ${'+-*'[next(3)]} ${next(1000)}`;
    expect(evaluate(text)).toBe(String(Function(`return ${text}`)()));
  }
});

test('sums of fractions agree with those of floating point numbers', () => {
  let seed = 11;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 1 + (seed % below);
  };
  const fraction = () => `(${'-'.repeat(seed % 2)}${next(40)} / ${next(40)})`;
  for (let round = 0; round < 500; round++) {
    const text = `${fraction()} ${'+-*/'[seed % 4]} ${fraction()} ${'+-*/'[next(100) % 4]} ${fraction()}`;
    const value = Function(`return ${text}`)();
    const told = Number(evaluate(text).split('≈').at(-1));
    expect(Math.abs(told - value), text).toBeLessThan(1e-12 * Math.max(1, Math.abs(value)));
  }
  expect(evaluate('1 / (2/3)')).toBe('1.5');
  expect(evaluate('max(1/3, 2/7) - min(1/3, 2/7)')).toBe('1/21 ≈ 0.0476190476190476');
});

test('a hundred parentheses in each other are read, and numbers as large as an expression is long', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`;
  expect(evaluate(nested(99))).toBe('1');
  expect(() => evaluate(nested(100))).toThrow('more than 100 parentheses in each other');
  // Side by side they are not in each other.
  expect(evaluate(Array(150).fill('(1)').join('+'))).toBe('150');
  expect(() => evaluate('1e99999')).toThrow('"1e99999" is too large or too small');
  expect(() => evaluate('1e-99999')).toThrow('"1e-99999" is too large or too small');
  expect(evaluate('2e0')).toBe('2');
  expect(evaluate('2.5 * sqrt(2)')).toBe('3.53553390593274');
  expect(() => evaluate('1 +')).toThrow('the expression ends too early');
});
