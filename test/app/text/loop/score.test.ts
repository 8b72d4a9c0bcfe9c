import { expect, test } from 'vitest';
import { link, noChains } from '../../../../app/text/loop/near-duplicates.ts';
import forest from '../../../../app/text/loop/score.json' with { type: 'json' };
import { scoreOf } from '../../../../app/text/loop/score.ts';
import { cut, noText } from '../../../../app/text/loop/sentences.ts';
import { repeat } from './corpus/random.ts';
import { fitTrees } from './exam/fit.ts';

const roundsOf = (lines: readonly string[]) => {
  const chains = noChains();
  const cutter = noText();
  return lines.flatMap((line, at) => cut(cutter, line, 10 * at).flatMap((sentence) => link(chains, sentence) ?? []));
};
const doubts = ['But maybe the chair', 'However, the old chair', 'Hmm, but then the chair', 'Perhaps the same chair'];

test('the score reads what a round measures, by the same names', () => {
  const [round] = roundsOf(repeat(6, (n) => `${doubts[n % 4]} beside the door stays empty when Dana leaves.\n`));
  expect(round && Object.keys(round.features).sort()).toEqual(forest.names.toSorted());
  expect(forest.trees.every((tree) => tree.length === 22)).toBe(true);
  expect(Number.isFinite(round && scoreOf(round.features))).toBe(true);
});

test('what is measured as a share stays one, however often a thought comes back', () => {
  const shares = [
    'same',
    'counter',
    'values',
    'words',
    'first',
    'similar',
    'fresh',
    'numbers',
    'rows',
    'prose',
    'cued',
  ];
  const rounds = roundsOf(repeat(40, (n) => `${doubts[n % 4]} beside the door stays empty when Dana leaves.\n`));
  expect(rounds.length).toBeGreaterThan(20);
  for (const { features } of rounds)
    for (const [name, value] of Object.entries(features).filter(([name]) => shares.includes(name)))
      expect(value >= 0 && value <= 1, `${name} is ${value}`).toBe(true);
});

test('the same thought in other words has better odds to be a loop than orders that differ in who and what', () => {
  const goods = 'lantern ledger bicycle recipe kettle violin compass ladder'.split(' ');
  const towns = 'Lima Oslo Quito Turin Cairo Perth Delhi Basel'.split(' ');
  const again = roundsOf(repeat(8, (n) => `${doubts[n % 4]} beside the door stays empty when Dana leaves.\n`)).at(-1);
  const orders = roundsOf(
    repeat(8, (n) => `The ${goods[n]} was sent to ${towns[n]} on the ${3 * n + 2} of May for ${17 * n + 5} crowns.\n`),
  ).at(-1);
  expect(again && scoreOf(again.features)).toBeGreaterThan(0);
  expect(orders ? scoreOf(orders.features) : -9).toBeLessThan(-1);
});

test('trees learn what two features say together', () => {
  const examples = repeat(400, (at) => {
    const values = [(at % 20) / 20, Math.floor(at / 20) / 20];
    return { values, positive: (values[0] as number) > 0.5 && (values[1] as number) > 0.3, weight: 1 };
  });
  const { bias, trees } = fitTrees(examples, { trees: 30, rate: 0.3, least: 1, shrink: 1 });
  const oddsOf = (values: readonly number[]) =>
    trees.reduce((sum, tree) => {
      let node = 0;
      while (node < 7)
        node = 2 * node + ((values[tree[2 * node] as number] as number) > (tree[2 * node + 1] as number) ? 2 : 1);
      return sum + (tree[7 + node] as number);
    }, bias);
  expect(examples.filter(({ values, positive }) => oddsOf(values) > 0 !== positive)).toEqual([]);
});
