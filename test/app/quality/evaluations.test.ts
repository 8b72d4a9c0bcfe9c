// What an evaluation is said to take, and what it finds and tells on the way: of the starter model itself.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readModelText } from '../../../app/engine/process/model/tokenizer-files.ts';
import type { QualitySubject } from '../../../app/protocol/index.ts';
import {
  type ComparedWith,
  evaluate,
  filesOf,
  type Opens,
  sessionTokensOf,
  type Tools,
} from '../../../app/quality/evaluation/evaluate.ts';
import { forecast } from '../../../app/quality/evaluation/forecast.ts';
import { jsonOf } from '../../../app/quality/report.ts';
import { straight } from '../../../app/quality/step.ts';
import type { Model } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import { newFolder, places } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

const WRITTEN = 'The old mill by the river was sold in autumn, and its wheel went to the harbour. ';
const { tokenizer, before } = await readModelText(addon, starter);
const count = (text: string) => before.length + tokenizer.encodeText(text).length;

let native: Model;
beforeAll(async () => {
  native = await addon.load(starter);
});
afterAll(() => native.close());

function tools() {
  const told: string[] = [];
  const made: Tools = {
    addon,
    worker: places.worker,
    signal: new AbortController().signal,
    step: straight,
    manual: () => WRITTEN.repeat(4),
    progress: (stage) => ({
      show: (done, total) => void (stage === 'loading' || stage === 'prompt' || told.push(`${stage} ${done}/${total}`)),
      end: () => void (stage === 'prompt' || told.push(`${stage} ended`)),
    }),
  };
  return { told, made };
}
const opens: Opens = { path: starter, device: 'cpu', threads: 1 };
const of = (test: QualitySubject, material: string | null = null, reference: ComparedWith | null = null) => ({
  model: opens,
  test,
  material,
  reference,
});
const lines = (...all: object[]) => all.map((line) => JSON.stringify(line)).join('\n');

const QUESTIONS = [
  { question: 'Two and two are', choices: ['four', 'a windmill of stone'], answer: 0 },
  { question: 'The sky is', choices: ['blue', 'nine'], answer: 0 },
];
const choices = of({ kind: 'choices', name: 'own' }, lines(...QUESTIONS));
const perplexity = of({ kind: 'perplexity', text: null, limit: 50 });
const needle = of({ kind: 'needle', lengths: [64, 200], depths: [0, 50, 100], seed: 1 } as QualitySubject);
const reasoning = of({ kind: 'reasoning', problems: 2, maxTokens: 40, seed: 1 } as QualitySubject);
const reading = of(
  { kind: 'reading', name: 'own', metric: 'f1', longest: 90, maxTokens: 6 } as QualitySubject,
  lines(
    { input: 'What?', context: 'A mill.', answers: ['mill'] },
    { input: 'Who?', context: WRITTEN.repeat(20), answers: ['nobody'] },
  ),
);

test.each([
  ['perplexity', perplexity, 2048],
  ['choices', choices, 8192],
  ['needle', needle, 712],
  ['reasoning', reasoning, 552],
  ['reading', reading, 608],
])('%s gets the context that it needs', (_, { test }, tokens) => {
  expect(sessionTokensOf(test)).toBe(tokens);
});

describe('a forecast', () => {
  test.each([
    ['a text: all of its windows', perplexity, { parts: 1, reads: 50, writes: 0 }],
    [
      'questions: each with each of its answers',
      choices,
      {
        parts: 2,
        reads: QUESTIONS.flatMap(({ question, choices }) => choices.map((one) => count(`${question} ${one}`))).reduce(
          (a, b) => a + b,
        ),
        writes: 0,
      },
    ],
    ['needles: a text for each length and depth', needle, { parts: 6, reads: expect.any(Number), writes: 6 * 48 }],
    ['texts', reading, { parts: 2, reads: expect.any(Number), writes: 12 }],
    ['problems: of every kind', reasoning, { parts: 10, reads: 1280, writes: 400 }],
  ])('of %s', async (_, evaluation, expected) => {
    const { made, told } = tools();
    const plan = await forecast(made, evaluation);
    expect(plan).toMatchObject(expected);
    const contextLength = Math.min(sessionTokensOf(evaluation.test), native.contextLength);
    expect(plan.memoryBytes).toBe(native.memoryPlan({ contextLength }).total);
    expect(plan.seconds).toBeGreaterThan(0);
    // This model reads and writes thousands of tokens a second.
    expect(plan.seconds).toBeLessThan(60);
    expect(told).toEqual(['loading ended']);
  });

  test('needles are as long as they are to be, and texts no longer than was asked for', async () => {
    const { reads } = await forecast(tools().made, needle);
    expect(reads).toBeGreaterThan(3 * (64 + 200));
    expect(reads).toBeLessThan(3 * (64 + 200) + 6 * 350);
    const short = count(
      'Read the text and answer the question about it. Give only the answer, without an explanation.\n\nText:\nA mill.\n\nQuestion: What?',
    );
    const texts = await forecast(tools().made, reading);
    expect(texts.reads - short).toBeGreaterThan(80);
    expect(texts.reads - short).toBeLessThan(96 + before.length);
  });

  test('of a comparison counts both models, unless what the other predicts is known already', async () => {
    const folder = newFolder();
    const test: QualitySubject = { kind: 'divergence', text: null, limit: 50, reference: 'Starter' };
    const with_: ComparedWith = { from: 'model', opens, name: 'Starter', folder };
    const comparison = of(test, null, with_);
    const { made } = tools();
    expect(await forecast(made, comparison)).toMatchObject({ parts: 1, reads: 100 });
    const { made: again, told } = tools();
    const found = await evaluate(again, comparison);
    expect(found).toMatchObject({ kind: 'divergence', tokens: 49, reference: 'Starter', sameTop: { value: 1 } });
    expect(told).toEqual([
      'loading ended',
      'reference 49/49',
      'reference ended',
      'loading ended',
      'comparing 49/49',
      'comparing ended',
    ]);
    const [kept = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(await forecast(made, comparison)).toMatchObject({ reads: 50 });
    const second = tools();
    expect(await evaluate(second.made, comparison)).toEqual(found);
    expect(second.told).toEqual(['loading ended', 'comparing 49/49', 'comparing ended']);
    // By its file it is the same, of another text it is refused, and a damaged one is taken anew.
    const file = of(test, null, { from: 'file', path: join(folder, kept) });
    expect(await forecast(made, file)).toMatchObject({ reads: 50 });
    expect(await evaluate(made, file)).toEqual(found);
    const other = { ...file, material: WRITTEN.repeat(3).toUpperCase() };
    const refused = {
      code: 'bad-request',
      details: { reason: 'quality-other-text' },
      message: expect.stringContaining('the reference of Starter'),
    };
    await expect(forecast(made, other)).rejects.toMatchObject(refused);
    await expect(evaluate(made, other)).rejects.toMatchObject(refused);
    const bytes = readFileSync(join(folder, kept));
    writeFileSync(join(folder, kept), bytes.subarray(0, -1));
    expect(await evaluate(made, comparison)).toEqual(found);
    expect(readFileSync(join(folder, kept))).toEqual(bytes);
    await expect(evaluate(made, of(test))).rejects.toThrow('[eval] a divergence needs a reference');
  });
});

test('a perplexity counts every token but the first, and is told in bits for each byte of the text', async () => {
  const { made, told } = tools();
  const written = WRITTEN.repeat(16);
  const found = await evaluate(made, of({ kind: 'perplexity', text: null, limit: 200 }, written));
  if (found.kind !== 'perplexity') throw new Error('another kind');
  expect([found.tokens, found.blocks.length]).toEqual([199, 4]);
  const bytes = (written.length * 199) / tokenizer.encodeText(written).length;
  for (const end of ['value', 'low', 'high'] as const)
    expect(found.bitsPerByte[end]).toBeCloseTo((Math.log2(found.perplexity[end] ?? 0) * 199) / bytes, 6);
  expect(told).toEqual(['loading ended', 'scoring 199/199', 'scoring ended']);
  expect(jsonOf(found)).toEqual({ perplexity: found.perplexity, tokens: 199 });
});

test('questions with choices are asked one by one', async () => {
  const { made, told } = tools();
  const found = await evaluate(made, choices);
  expect(found).toMatchObject({ kind: 'choices', questions: 2, answers: [{}, {}] });
  expect(told).toEqual(['loading ended', 'asking 1/2', 'asking 2/2', 'asking ended']);
  expect(jsonOf(found)).toMatchObject({ questions: 2, accuracy: { value: expect.any(Number) } });
});

test('of questions about texts it is told how many texts were shortened, and what was said to each', async () => {
  const { made, told } = tools();
  const found = await evaluate(made, reading);
  if (found.kind !== 'reading') throw new Error('another kind');
  expect(found).toMatchObject({ metric: 'f1', questions: 2, shortened: 1 });
  const mean = found.answers.reduce((sum, { score }) => sum + score, 0) / 2;
  expect(found.score.value).toBeCloseTo(mean, 9);
  expect(told).toEqual(['loading ended', 'asking 1/2', 'asking 2/2', 'asking ended']);
  expect(jsonOf(found)).toMatchObject({ shortened: 1, questions: 2, answers: found.answers });
});

test('a model’s files tell one state of it from another: those it is read from, in one order', async () => {
  const folder = newFolder();
  for (const name of ['b.json', 'a.safetensors', 'notes.txt', 'c.jinja']) writeFileSync(join(folder, name), name);
  mkdirSync(join(folder, 'more'));
  const stamp = (name: string) => statSync(join(folder, name)).mtimeMs;
  expect(await filesOf(folder)).toEqual([
    ['a.safetensors', 13, stamp('a.safetensors')],
    ['b.json', 6, stamp('b.json')],
    ['c.jinja', 7, stamp('c.jinja')],
  ]);
  const path = join(folder, 'b.json');
  expect(await filesOf(path)).toEqual([[path, 6, stamp('b.json')]]);
});
