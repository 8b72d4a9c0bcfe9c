// What is chosen in the dialog of a test, what is compared with what, and the list of tests as events change it.
import { describe, expect, test } from 'vitest';
import { type ModelId, QUALITY_KINDS, type QualityRun, QualityTest } from '../../../../app/protocol/index.ts';
import { pairsOf } from '../../../../renderer/models/quality/results.ts';
import { numbersOf, readFile, testOf, USUAL, type Wish } from '../../../../renderer/models/quality/wish.ts';
import { withRun } from '../../../../renderer/stores/models/quality-runs.ts';
import { alike, results, stopped, underWay } from '../../page/quality-scenes.ts';

const other = 'other' as ModelId;
const wish = (change: Partial<Wish> = {}): Wish => ({ ...USUAL, other, ...change });

describe('a test', () => {
  test('of every kind is one that the core takes, once it has what it needs', () => {
    const file = { name: 'q.jsonl', text: '{}' };
    for (const kind of QUALITY_KINDS)
      expect(QualityTest.safeParse(testOf(kind, wish({ file }))).success, kind).toBe(true);
    expect(testOf('choices', wish())).toBeNull();
    expect(testOf('reading', wish())).toBeNull();
    expect(testOf('reading', wish({ file, metric: 'rouge-l', answerTokens: 256 }))).toMatchObject({
      questions: '{}',
      metric: 'rouge-l',
      maxTokens: 256,
    });
    expect(testOf('divergence', wish({ other: null }))).toBeNull();
    expect(testOf('needle', wish({ lengths: 'long' }))).toBeNull();
  });

  test('against a file of predictions reads all of the text, as that file was made', () => {
    const asked = testOf('divergence', wish({ other: null, path: ' /r.reference ', limit: 2048 }));
    expect(asked).toMatchObject({ reference: { from: 'file', path: '/r.reference' }, limit: null });
    const file = { name: 'a.txt', text: 'words' };
    expect(testOf('divergence', wish({ file, limit: 2048 }))).toMatchObject({ limit: 2048 });
    // The manual is short.
    expect(testOf('perplexity', wish({ limit: 2048 }))).toMatchObject({ limit: null });
  });

  test.each([
    ['512, 1024;64', [64, 512, 1024]],
    ['64 64', [64]],
    ['63', null],
    ['1e3', [1000]],
    ['64.5', null],
    ['', null],
    ['65 66 67 68 69 70 71 72 73', null],
  ])('numbers of "%s" are %j', (text, expected) => {
    expect(numbersOf(text, 64, 4096, 8)).toEqual(expected);
  });

  test('a file that is too large is not read', async () => {
    expect(await readFile(new File(['words'], 'a.txt'))).toEqual({ name: 'a.txt', text: 'words' });
    expect(await readFile(new File(['x'.repeat(4_000_001)], 'b.txt'))).toBeNull();
  });
});

test('two models are compared in the newest test that both passed alike; others are named', () => {
  const all = results('a', 'b');
  const of = (id: string) => all.filter(({ modelId }) => modelId === id);
  const pairs = pairsOf(of('a'), of('b'), QUALITY_KINDS);
  expect(pairs.map(({ kind, matched, a, b }) => [kind, matched, a !== null, b !== null])).toEqual([
    ['perplexity', true, true, true],
    ['divergence', false, true, false],
    ['choices', false, false, false],
    ['reading', true, true, true],
    ['needle', true, true, true],
    ['reasoning', true, true, true],
  ]);
  expect(pairs[0]?.a?.key).toBe(pairs[0]?.b?.key);
  expect(pairsOf([stopped('a')], of('b'), ['reasoning'])[0]).toMatchObject({ matched: false, a: null });
});

test('a test that changes stays in its place, a new one comes first, and one that ends is no longer under way', () => {
  const [first, second] = alike('a', 'b') as [QualityRun, QualityRun];
  const run = underWay('a', false);
  const known = { runs: { [first.modelId]: [first] }, current: null };
  const begun = withRun(known, run);
  expect(begun).toEqual({ runs: { a: [run, first] }, current: run });
  const over: QualityRun = { ...run, state: { status: 'stopped' } };
  expect(withRun(begun, over)).toEqual({ runs: { a: [over, first] }, current: null });
  // A model whose list was never asked for gets none of one test.
  expect(withRun(known, second).runs).toEqual(known.runs);
  expect(withRun(begun, second).current).toBe(run);
});
