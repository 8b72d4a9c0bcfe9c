// Questions about texts: what an answer is worth, and how a text that is too long is asked about.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadAddon } from '../../../app/engine/process/addon.ts';
import { readModelText } from '../../../app/engine/process/model/tokenizer-files.ts';
import { promptFor } from '../../../app/quality/evaluation/text-prompts.ts';
import { exactMatch, overlapOf, rougeL, wordF1 } from '../../../app/quality/overlap.ts';
import { readTextQuestions } from '../../../app/quality/reading.ts';
import { places } from '../../support/core/core.ts';

// The F1 of SQuAD's evaluation script, and rougeL of the Python package rouge_score 0.1.2 without stemming.
test.each([
  ['The Eiffel Tower, in Paris.', 'Eiffel tower', 0.666667, 0.571429],
  ['in 1998, of course', '1998', 0.4, 0.4],
  ['a cat sat on the mat and slept', 'the cat lay on a mat while it slept', 0.615385, 0.470588],
  ['no overlap here', 'nothing shared', 0, 0],
  [
    'The committee met on Tuesday. It approved the budget of $4,200 and closed the meeting early.',
    'On Tuesday the committee approved a budget of $4,200; the meeting was closed early.',
    0.833333,
    0.625,
  ],
  ['to be or not to be', 'be not to be to or', 1, 0.666667],
  ["It's John's book", 'johns book', 0.8, 0.285714],
  ['', 'anything', 0, 0],
])('"%s" against "%s"', (said, right, f1, rouge) => {
  expect(wordF1(said, right)).toBeCloseTo(f1, 6);
  expect(rougeL(said, right)).toBeCloseTo(rouge, 6);
});

test('words are found in scripts that have no blanks between them', () => {
  expect(wordF1('他在北京大学学习', '北京大学')).toBeGreaterThan(0);
  expect(wordF1('他在北京大学学习', '北京大学')).toBeLessThan(1);
  expect(rougeL('图书馆在周一关门', '图书馆周一关门')).toBeGreaterThan(0.8);
});

test.each<[string, string, string[] | null, number]>([
  ['The Hague.', 'the hague', null, 1],
  ['The Hague, I think', 'the hague', null, 0],
  ['Type: Location', 'Location', ['Location', 'Person'], 1],
  ['Location or Person', 'Location', ['Location', 'Person'], 0.5],
  ['Person', 'Location', ['Location', 'Person'], 0],
  // A class within the right one is no second answer, and what follows the first line is none at all.
  ['City description\nPerson', 'City description', ['City', 'City description', 'Person'], 1],
])('"%s" for "%s" of %j: %d', (said, right, classes, expected) => {
  expect(exactMatch(said, right, classes)).toBe(expected);
});

test('of several right answers the closest counts', () => {
  expect(overlapOf('f1', 'the bicycle', ['a car', 'bicycle'], null)).toBe(1);
  expect(overlapOf('exact', 'a bike', ['a car', 'bicycle'], null)).toBe(0);
});

describe('lines', () => {
  test('of LongBench are read, whatever else is in them', () => {
    const line = {
      input: 'What is red?',
      context: 'Ann has a red bicycle.',
      answers: ['bicycle'],
      length: 5,
      dataset: 'multifieldqa_en',
      language: 'en',
      all_classes: null,
      _id: '1',
    };
    expect(readTextQuestions(`${JSON.stringify(line)}\n\n`)).toEqual([
      { input: 'What is red?', context: 'Ann has a red bicycle.', answers: ['bicycle'], all_classes: null },
    ]);
  });

  test.each([
    ['{"context": "x", "answers": []}', /line 1: answers/],
    ['{"context": "", "answers": ["y"]}', /line 1: context/],
    ['{"context": "x", "answers": ["y"]}\n{', /line 2: not JSON/],
    ['{"context": "x", "answers": ["y"], "prompt": "about {input}"}', /line 1: prompt has no \{context\}/],
    ['\n', /no question/],
  ])('%s is refused', (text, why) => {
    expect(() => readTextQuestions(text)).toThrow(why);
  });
});

const { tokenizer } = await readModelText(loadAddon(places.addon), join(places.resources, 'starter-model'));

describe('a prompt', () => {
  const count = (text: string) => tokenizer.encodeText(text).length;
  const question = (change: object = {}) => ({
    input: 'Who? $& {context}',
    context: 'Ann did $1.',
    answers: ['Ann'],
    ...change,
  });

  test('asks about the text, and what stands in text or question changes nothing else', () => {
    const { prompt, shortened } = promptFor(question(), 4096, tokenizer);
    expect(shortened).toBe(false);
    expect(prompt).toContain('Text:\nAnn did $1.\n\nQuestion: Who? $& {context}');
    expect(promptFor(question({ input: '' }), 4096, tokenizer).prompt).toMatch(/^Summarise the text.*Ann did \$1\.$/s);
    expect(promptFor(question({ prompt: '{context} => {input}' }), 4096, tokenizer).prompt).toBe(
      'Ann did $1. => Who? $& {context}',
    );
  });

  test('keeps a text whole that just fits', () => {
    const context = 'Ann did it. Ben saw it. Carl wrote it down.';
    const around = count(promptFor(question({ context: '' }), 4096, tokenizer).prompt);
    const longest = around + count(context);
    expect(promptFor(question({ context }), longest, tokenizer)).toMatchObject({
      prompt: expect.stringContaining(context),
      shortened: false,
    });
    expect(promptFor(question({ context }), longest - 1, tokenizer).shortened).toBe(true);
  });

  test('of a text that is too long keeps its beginning and its end, within what was asked for', () => {
    const context = Array.from({ length: 400 }, (_, at) => `Line ${at} tells of the number ${at * 7}.`).join('\n');
    const { prompt, shortened } = promptFor(question({ context }), 512, tokenizer);
    expect(shortened).toBe(true);
    expect(prompt).toContain('Line 0 tells');
    expect(prompt).toContain(`Line 399 tells of the number ${399 * 7}.`);
    expect(prompt).not.toContain('Line 200 tells');
    expect(count(prompt)).toBeGreaterThan(480);
    // A blank or two may be cut another way where the halves meet.
    expect(count(prompt)).toBeLessThanOrEqual(516);
  });
});
