// Answers that a grammar binds: with thinking, with samplers, several at once, gone on with.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boundAnswer, createGrammars, type Grammars } from '../../../app/engine/process/model/grammars.ts';
import { readModelText } from '../../../app/engine/process/model/tokenizer-files.ts';
import type { ModelText } from '../../../app/text/model-text.ts';
import type { GenerateOptions, Grammar, Model } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import { starter } from '../../support/models/models.ts';

let model: Model;
let text: ModelText;
let grammars: Grammars;
beforeAll(async () => {
  model = await addon.load(starter, { device: 'cpu', threads: 2 });
  text = await readModelText(addon, starter);
  grammars = createGrammars(addon, text, model.vocabularySize);
});
afterAll(() => model.close());

const regex = (source: string) => grammars.compiled({ kind: 'regex', text: source });
const prompt = () =>
  Int32Array.from(
    text.tokenizer.encode(
      text.tokenizer.split('<|im_start|>user\nWhat is 12 + 30?<|im_end|>\n<|im_start|>assistant\n'),
    ),
  );

async function answer(options: Partial<GenerateOptions>, asked = prompt()) {
  const session = model.createSession({ contextLength: 512 });
  const result = await session.generate(asked, { maxTokens: 60, stopTokens: [...text.stopIds], ...options });
  session.close();
  const ids = result.tokens.filter((id) => !text.stopIds.includes(id));
  return { ids, said: text.decode(ids), finish: result.finish };
}

const list = '\\[("[a-z ]{1,12}"(, "[a-z ]{1,12}"){2,3})\\]';

test('a grammar that allows everything leaves the ids as they are', async () => {
  const grammar = await regex('[\\s\\S]*');
  for (const options of [
    {},
    { temperature: 0.9, seed: 3 },
    { temperature: 1.3, seed: 4, topP: 0.8, topK: 30 },
    { temperature: 1, seed: 5, repetitionPenalty: 1.2, logprobs: 2 },
  ]) {
    expect(await answer({ ...options, grammar })).toEqual(await answer(options));
  }
});

test('what is written is of the grammar, with every sampler, and ends with it', async () => {
  const grammar = await regex(list);
  for (let seed = 1; seed <= 12; seed++) {
    const { said, finish } = await answer({
      grammar,
      seed,
      temperature: seed / 4,
      topP: seed % 2 ? 0.9 : 1,
      minP: seed % 3 ? 0 : 0.05,
      maxTokens: 200,
    });
    expect(said).toMatch(new RegExp(`^${list}$`));
    expect(finish).toBe('stop');
  }
});

test('an answer that stops before its end is a beginning of one, and goes on as one', async () => {
  const grammar = await regex(list);
  const begun = await answer({ grammar, maxTokens: 5 });
  expect(begun.finish).toBe('length');
  const rest = await answer(
    { grammar, continues: begun.ids.length, maxTokens: 200 },
    Int32Array.from([...prompt(), ...begun.ids]),
  );
  expect(begun.said + rest.said).toMatch(new RegExp(`^${list}$`));
  const other = Int32Array.from([...prompt(), ...text.tokenizer.encodeText('no')]);
  await expect(answer({ grammar, continues: 1 }, other)).rejects.toThrow('the answer so far does not fit the grammar');
});

test('several answers at once are each as alone', async () => {
  const bound: Grammar[] = [await regex(list), await regex('The answer is [0-9]{2}\\.'), await regex('(yes|no){3}')];
  const options = [
    ...bound.map((grammar, seed) => ({ grammar, seed, temperature: 0.8 })),
    { seed: 9, temperature: 0.8 },
  ];
  const alone = [];
  for (const one of options) alone.push(await answer(one));
  expect(await Promise.all(options.map((one) => answer(one)))).toEqual(alone);
});

test('tokens without a choice are written together, and what follows them is as if they had been read one by one', async () => {
  const grammar = await regex('Well, the sum of twelve and thirty is [0-9]{2}, I believe\\.');
  const arrived: number[] = [];
  const times: number[] = [];
  const { said, ids } = await answer({
    grammar,
    path: 'exact',
    onTokens: (events) => {
      arrived.push(...events.map(({ id }) => id));
      times.push(...events.map(({ at }) => at));
    },
  });
  // A step of the model takes longer than this, also of this small one.
  const steps = times.slice(1).filter((at, k) => at - (times[k] ?? 0) > 0.25);
  expect(steps.length).toBeLessThan(ids.length / 2);
  expect(said).toMatch(/^Well, the sum of twelve and thirty is [0-9]{2}, I believe\.$/);
  expect(arrived).toEqual(ids);
  // The number, from a session that reads the same tokens as a prompt.
  const before = ids.findIndex((_, at) => /[0-9]/.test(text.decode(ids.slice(0, at + 1))));
  const session = model.createSession({ contextLength: 512 });
  const { data } = await session.logits(Int32Array.from([...prompt(), ...ids.slice(0, before)]), { path: 'exact' });
  const digits = (await regex('[0-9]{2}, I believe\\.')).after(Int32Array.of())?.allowed ?? new Uint32Array();
  const scores = [...data].map((score, id) =>
    ((digits[id >> 5] ?? 0) >>> (id & 31)) & 1 ? score : Number.NEGATIVE_INFINITY,
  );
  expect(scores.indexOf(Math.max(...scores))).toBe(ids[before]);
});

test('what ends an answer is the token that was given for it, whatever its number', async () => {
  const grammar = await regex('[a-z]{3}!*');
  const strange = Array.from({ length: 8192 }, (_, id) => id).filter((id) => !/^[a-z!]/.test(text.decode([id])));
  for (const stop of [strange.find((id) => id > 32) ?? 0, strange.find((id) => id % 32 === 31) ?? 0, 4096, 4097]) {
    const session = model.createSession({ contextLength: 512 });
    const options = { maxTokens: 9, stopTokens: [stop], bias: { tokens: [stop], values: [1e4] }, grammar };
    const { tokens, finish } = await session.generate(prompt(), options);
    session.close();
    expect([finish, tokens.at(-1)]).toEqual(['stop', stop]);
    expect(text.decode(tokens.slice(0, -1))).toMatch(/^[a-z]{3}$/);
  }
});

test('the thinking is free, the answer behind it is bound', async () => {
  const grammar = await regex('The answer is [0-9]+\\.');
  const opened = Int32Array.from([...prompt(), ...text.tokenizer.encode(text.tokenizer.split('<think>\n'))]);
  const { said } = await answer({ grammar, ...boundAnswer(text, true, true), maxTokens: 200 }, opened);
  const [thinking = '', told = ''] = said.split('</think>');
  expect(thinking.length).toBeGreaterThan(20);
  expect(told.trim()).toMatch(/^The answer is [0-9]+\.$/);
  const without = await answer({ grammar, ...boundAnswer(text, false, false) });
  expect(without.said).toMatch(/^The answer is [0-9]+\.$/);
});

test('a token that ends the thinking begins the answer as the grammar has it', async () => {
  // Here a letter ends it: most tokens that have one go on behind it.
  const grammar = await regex('[0-9]{3}');
  const closes = [...text.tokenizer.encode(text.tokenizer.split('e'))];
  // Some text is without that letter for long: it is made likely.
  const bias = { tokens: closes, values: closes.map(() => 8) };
  for (let seed = 1; seed <= 6; seed++) {
    const { said } = await answer({ grammar, thinking: 'open', closes, bias, temperature: 0.9, seed, maxTokens: 100 });
    expect(said).toMatch(/^[^e]*e\s*[0-9]{3}$/);
  }
});

test('thinking is not ended by the token that ends an answer, whatever its number', async () => {
  const grammar = await regex('[a-z]{3}');
  for (const stop of [33, 4097]) {
    const options = { stopTokens: [stop], bias: { tokens: [stop], values: [1e4] }, maxTokens: 12 };
    const session = model.createSession({ contextLength: 512 });
    const { tokens, finish } = await session.generate(prompt(), {
      ...options,
      ...boundAnswer(text, true, true),
      grammar,
    });
    session.close();
    expect([finish, tokens.includes(stop)]).toEqual(['length', false]);
  }
});

test('a call that begins in a free text is bound, and a text without one is as it would be', async () => {
  const days = { type: 'integer', minimum: 3, maximum: 4 };
  const parameters = { type: 'object', properties: { days }, required: ['days'] };
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters, strict: true } }];
  const grammar = await grammars.compiled({ kind: 'calls', tools, beside: { kind: 'text' }, most: null });
  for (const options of [{}, { temperature: 0.9, seed: 3 }]) {
    expect(await answer({ ...options, grammar })).toEqual(await answer(options));
  }
  const begun = text.tokenizer.encode(text.tokenizer.split('I look.\n\n<tool_call>\n<function='));
  const { said } = await answer(
    { grammar, continues: begun.length, temperature: 1, seed: 2 },
    Int32Array.from([...prompt(), ...begun]),
  );
  expect(said).toMatch(/^weather>\n<parameter=days>\n[34]\n<\/parameter>\n<\/function>\n<\/tool_call>/);
});

test('a grammar for another vocabulary, and a word that is no grammar, are refused', async () => {
  const other = await addon.vocabulary(Uint8Array.of(97), Uint32Array.of(1));
  const foreign = { grammar: await other.grammar('regex', 'a*'), stopTokens: [] };
  await expect(answer(foreign)).rejects.toThrow(`the grammar is for 1 tokens, the model has ${model.vocabularySize}`);
  await expect(async () => answer({ grammar: {} as Grammar })).rejects.toThrow('grammar is not an instance of Grammar');
});
