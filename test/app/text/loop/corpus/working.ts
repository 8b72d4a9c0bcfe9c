import { name, paragraph, place, quality, sentence, thing } from './prose.ts';
import { expand, type Random, repeat } from './random.ts';

//  Work that looks the same at every step and yet gets on: sums, times tables, searches, long reasoning.

export function timesTable(random: Random): string {
  const sign = random.pick(['×', 'x', '*', 'times']);
  return repeat(random.between(2, 6), () => {
    const factor = random.between(2, 19);
    return `The ${factor} times table:\n${repeat(random.between(10, 20), (n) => `${factor} ${sign} ${n + 1} = ${factor * (n + 1)}`).join('\n')}`;
  }).join('\n\n');
}

export function arithmetic(random: Random): string {
  const shapes = [
    'Next, multiply <a> by <b>, which gives <p>, and add the carry <c> to get <q>.\n',
    'Add <a> to the running total <t>. The new total is <u>.\n',
    'Subtract <b> from <t> and write down <v>; the remainder is <r>. ',
    '<a> divided by <b> is <d> with remainder <r>, so bring down the next digit <c>.\n',
    'On day <n> you save <b> coins, so after day <n> you have <u> coins in total.\n',
  ];
  return repeat(random.between(4, 8), () => {
    const shape = random.pick(shapes);
    let total = random.below(500);
    const steps = repeat(random.between(6, 16), (index) => {
      const a = random.between(2, 99);
      const b = random.between(2, 9);
      const c = random.between(0, 9);
      const values = {
        a,
        b,
        c,
        n: index + 1,
        p: a * b,
        q: a * b + c,
        t: total,
        u: total + a,
        v: total - b,
        r: a % b,
        d: Math.floor(a / b),
      };
      total += a;
      return expand(
        shape,
        random,
        Object.fromEntries(Object.entries(values).map(([key, value]) => [key, () => String(value)])),
      );
    });
    return `${sentence(random)}\n${steps.join('')}`;
  }).join('\n');
}

/** Tries one value after another, as it should, and stops when it has found the one. */
export function search(random: Random): string {
  return repeat(random.between(2, 4), () => {
    const k = random.between(3, 40);
    const from = random.between(1, 9);
    const tries = repeat(random.between(6, 14), (index) => {
      const n = from + index;
      const value = n * n + k * n;
      return `Try n = ${n}: ${n}² + ${k}·${n} = ${value}, and ${value} mod 7 is ${value % 7}, so ${value % 7 === 0 ? 'this one works' : 'no'}.\n`;
    });
    return `${paragraph(random, 2)}\n${tries.join('')}${paragraph(random, 2)}`;
  }).join('\n\n');
}

export function problems(random: Random): string {
  return repeat(random.between(12, 30), (index) => {
    const a = random.between(2, 60);
    const b = random.between(2, 60);
    const who = name(random);
    return `${index + 1}. ${who} has ${a} ${thing(random)}s and buys ${b} more at the ${place(random)}. How many are there now? ${a} + ${b} = ${a + b}.`;
  }).join('\n');
}

/** Thinking aloud with second thoughts, where each of them is about something else. */
export function reasoning(random: Random): string {
  const turns = [
    'Wait, that is not quite right, because the <what> was <how>. ',
    'Let me check the <where> again: <who> said it was <how>, and <who> agreed. ',
    'Hmm, but if the <what> is in the <where>, then <who> cannot have the <what2>. ',
    'Actually, the question only asks about the <what>, so the <where> does not matter. ',
    'So <who> sits next to <who>, and the <how> chair stays free. ',
    'But maybe <who> means the <how> <what> and not the <how> <what2>. ',
    'Let me verify: the <what> costs <n>, the <what2> costs <m>, together that is <s>. ',
    'Okay, so far I know that <who> was at the <where> and that the <what> is <how>. ',
    'Alternatively, <who> could have gone to the <where> first and then to the <where2>. ',
    'No, that contradicts the clue about the <what>, which says <who> was <how>. ',
  ];
  return repeat(random.between(40, 110), () => {
    const n = random.between(2, 90);
    const m = random.between(2, 90);
    const text = expand(random.pick(turns), random, {
      who: () => name(random),
      where: () => place(random),
      where2: () => place(random),
      what: () => thing(random),
      what2: () => thing(random),
      how: () => quality(random),
      n: () => String(n),
      m: () => String(m),
      s: () => String(n + m),
    });
    return random.next() < 0.35 ? `${text}${sentence(random)} ` : text;
  }).join('');
}

/** A plan whose stages share their headings. */
export function plan(random: Random): string {
  return repeat(random.between(8, 16), (index) => {
    const items = repeat(3, () => `- ${sentence(random)}`).join('\n');
    return `### Stage ${index + 1}: the ${quality(random)} ${thing(random)}\n\n**Goal.** ${sentence(random)}\n\n**What to do**\n\n${items}\n\n**Risk.** Low.\n\n**Time.** ${random.between(1, 9)} days.`;
  }).join('\n\n');
}
