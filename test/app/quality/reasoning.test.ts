import { expect, test } from 'vitest';
import { answerIn, KINDS, outcomeOf, type Problem, problemsOf, reportOf } from '../../../app/quality/reasoning.ts';

test('sixty problems, twelve of a kind, the same for the same seed, no two alike', () => {
  const problems = problemsOf(1);
  expect(problems).toHaveLength(60);
  for (const kind of KINDS) expect(problems.filter((one) => one.kind === kind)).toHaveLength(12);
  expect(problemsOf(1)).toEqual(problems);
  expect(new Set(problems.map(({ question }) => question)).size).toBe(60);
  expect(problemsOf(2)).not.toEqual(problems);
});

/** Each kind, solved in another way than it is made. */
const SOLVERS: Record<Problem['kind'], (question: string) => string> = {
  arithmetic: (question) => {
    const sum = /What is (.*?)\?/.exec(question)?.[1] as string;
    return String(new Function(`return ${sum.replaceAll('×', '*').replaceAll('÷', '/').replaceAll('−', '-')}`)());
  },
  logic: (question) => {
    const taller = [...question.matchAll(/(\w+) is taller than (\w+)\./g)].map(
      ([, a, b]) => [a, b] as [string, string],
    );
    const names = [...new Set(taller.flat())];
    const above = (name: string): number =>
      taller.filter(([, b]) => b === name).reduce((most, [a]) => Math.max(most, 1 + above(a)), 0);
    const place = ['tallest', 'second tallest', 'third tallest', 'shortest'].indexOf(
      /Who is the (.*?)\?/.exec(question)?.[1] as string,
    );
    return names.find((name) => above(name) === place) as string;
  },
  'several steps': (question) => {
    const [begin, gain, given] = [...question.matchAll(/\d+/g)].map(Number) as [number, number, number];
    const times = question.includes('twice') ? 2 : question.includes('three times') ? 3 : 4;
    return String((begin + gain) * times - given);
  },
  code: (question) => {
    const number = (pattern: RegExp) => Number(pattern.exec(question)?.[1]);
    const [start, end, every, add] = [
      number(/^x = (\d+)/m),
      number(/range\(1, (\d+)\)/),
      number(/% (\d+)/),
      number(/x \+ (\d+)/),
    ];
    const hits = Math.floor((end - 1) / every);
    return String(start + (end - 1 - hits) * add - hits);
  },
  constraints: (question) => {
    const [, bound, r, p, s, q] = [...question.matchAll(/\d+/g)].map(Number) as number[];
    const all = Array.from({ length: bound as number }, (_, at) => at + 1);
    const fit = all.filter((one) => one % (p as number) === r && one % (q as number) === s);
    expect(fit).toHaveLength(1);
    return String(fit[0]);
  },
};

test.each(KINDS)('%s: the answer is what another way of solving it finds', (kind) => {
  for (const { question, answer } of problemsOf(3, 40).filter((one) => one.kind === kind))
    expect(SOLVERS[kind](question), question).toBe(answer);
});

test.each([
  ['So it is 41.\nAnswer: 42', '7', '42'],
  ['**Answer:** 1,042 apples.', '7', '1042'],
  ['Answer: **-3**', '7', '-3'],
  ['Answer: 4.5', '7', '4.5'],
  ['Answer: "Ada".', 'Eva', 'Ada'],
  ['Answer: first\nAnswer: 9', '7', '9'],
  ['The answer is 42', '7', null],
  ['', '7', null],
])('%j, where %s would be right, answers %j', (text, like, given) => {
  expect(answerIn(text, like)).toBe(given);
});

test('right, wrong, no answer, in circles and cut off are told apart, and counted by kind', () => {
  const problem: Problem = { kind: 'logic', question: '', answer: 'Eva' };
  const attempts = (
    [
      ['Answer: eva', 'stop', 'right'],
      ['Answer: Ada', 'stop', 'wrong'],
      ['Eva', 'stop', 'none'],
      ['Answer: Eva', 'loop', 'looped'],
      ['Answer: Eva', 'length', 'too long'],
    ] as const
  ).map(([text, finish, expected]) => {
    const outcome = outcomeOf(problem, text, finish);
    expect(outcome).toBe(expected);
    return { problem, outcome };
  });
  const { kinds, right, answered, looped } = reportOf(attempts);
  expect([right.value, answered.value, looped.value]).toEqual([0.2, 0.4, 0.2]);
  expect(kinds[1]).toEqual({ kind: 'logic', problems: 5, right: 1, answered: 2, looped: 1 });
});
