import { type Estimate, shareOf } from '../protocol/index.ts';
import { dice, one, type Roll, shuffled } from './dice.ts';

/** Reasoning problems: generated from a seed, so that no model has seen them, each with one correct answer. */
export const KINDS = ['arithmetic', 'logic', 'several steps', 'code', 'constraints'] as const;
export type Kind = (typeof KINDS)[number];
export type Problem = { kind: Kind; question: string; answer: string };

const NAMES = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva', 'Finn'];
const THINGS = ['apples', 'books', 'stamps', 'marbles', 'tickets', 'candles'];
const ENDING = ' End with a line "Answer: " and the answer alone.';

function arithmetic(roll: Roll): Problem {
  const [a, b, c] = [roll(80) + 20, roll(30) + 3, roll(60) + 10];
  const [text, value] = one(
    [
      [`${a} × ${b} − ${c}`, a * b - c],
      [`(${a} + ${c}) × ${b}`, (a + c) * b],
      [`${a * b} ÷ ${b} + ${c}`, a + c],
    ] as const,
    roll,
  );
  return { kind: 'arithmetic', question: `What is ${text}?`, answer: String(value) };
}

/** Who is where in a row, by as many comparisons as settle it. */
function logic(roll: Roll): Problem {
  const order = shuffled(NAMES, roll).slice(0, 4);
  const facts = shuffled(
    order.slice(1).map((name, at) => `${order[at]} is taller than ${name}.`),
    roll,
  );
  const place = roll(4);
  const which = ['tallest', 'second tallest', 'third tallest', 'shortest'][place] as string;
  return { kind: 'logic', question: `${facts.join(' ')} Who is the ${which}?`, answer: order[place] as string };
}

function steps(roll: Roll): Problem {
  const [name, other] = shuffled(NAMES, roll) as [string, string];
  const things = one(THINGS, roll);
  const [begin, gain, times, given] = [roll(20) + 5, roll(15) + 2, roll(3) + 2, roll(4) + 1];
  const total = (begin + gain) * times - given;
  const word = ['twice', 'three times', 'four times'][times - 2] as string;
  return {
    kind: 'several steps',
    question:
      `${name} has ${begin} ${things} and finds ${gain} more. A prize then leaves ${name} with ${word} as many. ` +
      `${name} gives ${given} of them to ${other}. How many ${things} does ${name} have now?`,
    answer: String(total),
  };
}

function code(roll: Roll): Problem {
  const [start, add, rounds, every] = [roll(6), roll(5) + 2, roll(4) + 4, roll(2) + 2];
  let x = start;
  for (let i = 1; i <= rounds; ++i) x = i % every === 0 ? x - 1 : x + add;
  const lines = [
    `x = ${start}`,
    `for i in range(1, ${rounds + 1}):`,
    `    if i % ${every} == 0:`,
    '        x = x - 1',
    '    else:',
    `        x = x + ${add}`,
    'print(x)',
  ];
  return {
    kind: 'code',
    question: `What does this Python program print?\n\n\`\`\`python\n${lines.join('\n')}\n\`\`\`\n\n`,
    answer: String(x),
  };
}

/** A number that a search finds: the only one below a bound with these remainders. */
function constraints(roll: Roll): Problem {
  const [p, q] = one(
    [
      [3, 5],
      [4, 7],
      [5, 8],
      [3, 7],
    ] as const,
    roll,
  );
  const answer = roll(p * q - 1) + 1;
  return {
    kind: 'constraints',
    question:
      `Which whole number from 1 to ${p * q - 1} leaves a remainder of ${answer % p} when divided by ${p}, ` +
      `and a remainder of ${answer % q} when divided by ${q}?`,
    answer: String(answer),
  };
}

const MAKERS: Record<Kind, (roll: Roll) => Problem> = { arithmetic, logic, 'several steps': steps, code, constraints };

/** Attempts to generate a new problem; a kind has from dozens to thousands. */
const TRIES = 50;

/** `each` problems of every kind; the same for the same seed. */
export function problemsOf(seed: number, each = 12): Problem[] {
  const roll = dice(seed);
  const seen = new Set<string>();
  const fresh = (kind: Kind): Problem => {
    let problem = MAKERS[kind](roll);
    for (let tries = 1; seen.has(problem.question) && tries < TRIES; ++tries) problem = MAKERS[kind](roll);
    seen.add(problem.question);
    return { ...problem, question: `${problem.question.trimEnd()}${ENDING}` };
  };
  return KINDS.flatMap((kind) => Array.from({ length: each }, () => fresh(kind)));
}

/** How an attempt went: `wrong` gave another answer, `none` ended without one. */
export type Outcome = 'right' | 'wrong' | 'none' | 'looped' | 'too long';

/** What follows the last "Answer:" of a text, as the answer is compared: its first number, else its first word. */
export function answerIn(text: string, like: string): string | null {
  const given = [...text.matchAll(/answer[*_]*\s*:[*_]*\s*(.+)/gi)].at(-1)?.[1]?.replaceAll(',', '') ?? '';
  const found = /^\d+$/.test(like) ? /-?\d+(?:\.\d+)?/.exec(given) : /\p{L}+/u.exec(given);
  return found?.[0] ?? null;
}

export function outcomeOf(problem: Problem, text: string, finish: 'stop' | 'length' | 'context' | 'loop'): Outcome {
  if (finish === 'loop') return 'looped';
  if (finish !== 'stop') return 'too long';
  const given = answerIn(text, problem.answer);
  if (given === null) return 'none';
  return given.toLowerCase() === problem.answer.toLowerCase() ? 'right' : 'wrong';
}

export type ReasoningReport = {
  kinds: { kind: Kind; problems: number; right: number; answered: number; looped: number }[];
  right: Estimate;
  answered: Estimate;
  looped: Estimate;
};

/** Correct, answered and looped are counted separately: a looping model has not reasoned wrongly. */
export function reportOf(attempts: readonly { problem: Problem; outcome: Outcome }[]): ReasoningReport {
  const count = (some: typeof attempts, ...wanted: Outcome[]) =>
    some.filter(({ outcome }) => wanted.includes(outcome)).length;
  const of = attempts.length;
  return {
    kinds: KINDS.map((kind) => {
      const some = attempts.filter(({ problem }) => problem.kind === kind);
      return {
        kind,
        problems: some.length,
        right: count(some, 'right'),
        answered: count(some, 'right', 'wrong'),
        looped: count(some, 'looped'),
      };
    }),
    right: shareOf(count(attempts, 'right'), of),
    answered: shareOf(count(attempts, 'right', 'wrong'), of),
    looped: shareOf(count(attempts, 'looped'), of),
  };
}
