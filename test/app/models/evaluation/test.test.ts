// What two tests have in common: results are comparable exactly if the same was asked.
import { expect, test } from 'vitest';
import { needTest, takeApart } from '../../../../app/models/evaluation/test.ts';
import { type ModelDescription, type ModelId, QualityTest } from '../../../../app/protocol/index.ts';

const keyOf = (asked: QualityTest) => takeApart(QualityTest.parse(asked), () => 'Original').key;
const ofText = (name: string, text: string, limit: number | null = null): QualityTest => ({
  kind: 'perplexity',
  text: { source: 'file', name, text },
  limit,
});
const against = (modelId: string): QualityTest => ({
  kind: 'divergence',
  text: { source: 'manual' },
  limit: 8192,
  reference: { from: 'model', modelId: modelId as ModelId },
});
const needle = (seed: number): QualityTest => ({ kind: 'needle', lengths: [512], depths: [50], seed });

test('the same text under another name is the same test; another text, or more of it, is another', () => {
  expect(keyOf(ofText('a.txt', 'words'))).toBe(keyOf(ofText('b.txt', 'words')));
  expect(keyOf(ofText('a.txt', 'words'))).not.toBe(keyOf(ofText('a.txt', 'other words')));
  expect(keyOf(ofText('a.txt', 'words'))).not.toBe(keyOf(ofText('a.txt', 'words', 8192)));
  expect(keyOf(against('one'))).toBe(keyOf(against('one')));
  expect(keyOf(against('one'))).not.toBe(keyOf(against('two')));
  expect(keyOf(needle(1))).not.toBe(keyOf(needle(2)));
});

test('what is kept of it names its text and holds none of it', () => {
  const { subject, material } = takeApart(ofText('a.txt', 'secret words'), () => '');
  expect(subject).toEqual({ kind: 'perplexity', text: 'a.txt', limit: null });
  expect(material).toBe('secret words');
});

test('a test with one text that is longer than the model reads is refused, whatever its other texts are', () => {
  const asked = (lengths: number[]) => takeApart(QualityTest.parse({ ...needle(1), lengths }), () => '');
  const model = { contextLength: 4096 } as ModelDescription;
  expect(() => needTest(asked([512, 4096]), model)).not.toThrow();
  expect(() => needTest(asked([512, 8192]), model)).toThrow('a text of 8192 tokens, the model reads up to 4096');
});
