import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createEngine, type Engine } from '../../../../../app/engine/client/engine-client.ts';
import { prefixesOf, readEmbedderText } from '../../../../../app/engine/process/embedding/embedding-prefixes.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';
import { realEngine } from '../../../../support/core/core.ts';
import { generationOf } from '../../../../support/core/generation.ts';
import { safetensors, temporaryFolder } from '../../../../support/models/formats.ts';
import { starter } from '../../../../support/models/models.ts';
import { realModel } from '../../../../support/models/real-models.mjs';

vi.setConfig({ testTimeout: 120_000 });

const path = await realModel('minilm');
const target = { path, device: null, threads: null };

function startEngine(): Engine {
  const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
  onTestFinished(() => engine.close());
  return engine;
}

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

test('texts that mean the same lie near each other, in order, of length 1', async () => {
  const engine = startEngine();
  const texts = [
    'The cat sleeps on the sofa.',
    'A kitten is napping on the couch.',
    'Interest rates rose again in May.',
  ];
  const { vectors } = await engine.ask('embed', { target, texts, kind: 'passage', urgent: false });
  const [cat, kitten, rates] = vectors as [Float32Array, Float32Array, Float32Array];
  for (const vector of vectors) expect(cosine(vector, vector)).toBeCloseTo(1, 4);
  expect(cosine(cat, kitten)).toBeGreaterThan(0.6);
  expect(cosine(cat, rates)).toBeLessThan(0.2);
});

test('a short text has the vector that the addon gives for its tokens', async () => {
  const engine = startEngine();
  const text = 'The rent is due on the third working day.';
  const { tokenizer } = await readModelText(addon, path);
  const { before, after } = tokenizer.around;
  const model = await addon.load(path);
  const expected = await model.embed(Int32Array.from([...before, ...tokenizer.encodeText(text), ...after]));
  model.close();
  const { vectors } = await engine.ask('embed', { target, texts: [text], kind: 'query', urgent: true });
  expect(cosine(vectors[0] as Float32Array, expected)).toBeGreaterThan(0.9999);
});

test('a text longer than the window is read to its end', async () => {
  const engine = startEngine();
  const filler = 'The committee read the report and thanked its author for the work. '.repeat(30);
  const texts = [filler, `${filler} Volcanoes throw ash and lava when they erupt.`, 'volcanic eruption'];
  const { vectors } = await engine.ask('embed', { target, texts, kind: 'passage', urgent: false });
  const [without, and, eruption] = vectors as [Float32Array, Float32Array, Float32Array];
  expect(cosine(and, eruption)).toBeGreaterThan(cosine(without, eruption) + 0.05);
});

test('what stands where one window ends and the next begins is read, too', async () => {
  const engine = startEngine();
  // One token a word; windows are 254 or 510 of them, as a model has it.
  const around = (before: number, middle: string) => `${'report '.repeat(before)}${middle}${' report'.repeat(120)}`;
  const eruption = 'volcanoes throw ash and lava when they erupt';
  const texts = [eruption, around(254, 'and'), around(254, eruption), around(510, 'and'), around(510, eruption)];
  const { vectors } = await engine.ask('embed', { target, texts, kind: 'passage', urgent: false });
  const [wanted, ...read] = vectors as [Float32Array, ...Float32Array[]];
  const [none, first, nothing, second] = read.map((vector) => cosine(wanted, vector)) as [
    number,
    number,
    number,
    number,
  ];
  expect(first - none).toBeGreaterThan(0.05);
  expect(second - nothing).toBeGreaterThan(0.03);
});

test('passages make way for a chat, a query does not wait for one', async () => {
  const engine = startEngine();
  const passages = Array.from({ length: 400 }, (_, i) => `Passage ${i} about nothing in particular.`);
  const reading = engine.ask('embed', { target, texts: passages, kind: 'passage', urgent: false });
  await engine.ask('embed', { target, texts: ['warm'], kind: 'query', urgent: true });
  let ended = false;
  const answer = new Promise<void>((done) => {
    engine.generate(
      generationOf('turn', { modelId: 'starter', path: starter }, 'Tell me a story about a fox.', {
        temperature: 5,
        maxTokens: 1500,
      }),
      (updates) => {
        if (!updates.some(({ event }) => event.type === 'finished' || event.type === 'failed')) return;
        ended = true;
        done();
      },
    );
  });
  const { vectors } = await reading;
  expect(vectors.length).toBeGreaterThan(0);
  expect(vectors.length).toBeLessThan(passages.length);
  const { vectors: asked } = await engine.ask('embed', {
    target,
    texts: ['What is due?'],
    kind: 'query',
    urgent: true,
  });
  expect(asked).toHaveLength(1);
  expect(ended).toBe(false);
  await answer;
});

test('a question is answered while a text of megabytes is still cut into tokens', async () => {
  const engine = startEngine();
  const embed = (text: string, kind: 'passage' | 'query') =>
    engine.ask('embed', { target, texts: [text], kind, urgent: kind === 'query' });
  await embed('warm', 'query');
  let isRead = false;
  // Nothing but blanks: it is gone through to its end in search of a word.
  const reading = embed(`${' '.repeat(20_000_000)}end`, 'passage').then(() => {
    isRead = true;
  });
  await embed('What is due?', 'query');
  expect(isRead).toBe(false);
  await reading;
});

test('a model that writes text gives no vectors', async () => {
  const engine = startEngine();
  const asked = engine.ask('embed', {
    target: { ...target, path: starter },
    texts: ['a'],
    kind: 'query',
    urgent: true,
  });
  await expect(asked).rejects.toMatchObject({ code: 'model-unsupported' });
});

test('an encoder is asked as its family wants', async () => {
  expect(prefixesOf('intfloat/e5-small-v2')).toEqual({ query: 'query: ', passage: 'passage: ' });
  expect(prefixesOf('BAAI/bge-small-en-v1.5').query).toMatch(/^Represent this sentence/);
  expect(prefixesOf('nreimers/MiniLM-L6-H384-uncased all-MiniLM-L6-v2')).toEqual({ query: '', passage: '' });
  const folder = temporaryFolder({
    'config.json': '{}',
    'sentence_bert_config.json': '{"max_seq_length": 128}',
    'config_sentence_transformers.json': '{"prompts": {"query": "ask: ", "document": "told: "}}',
  });
  expect(await readEmbedderText(addon, folder)).toEqual({
    longest: 128,
    prefixes: { query: 'ask: ', passage: 'told: ' },
  });
  const broken = temporaryFolder({ 'sentence_bert_config.json': '{"max_seq_length": "many"}' });
  await expect(readEmbedderText(addon, broken)).rejects.toMatchObject({ code: 'model-broken' });
});

/** A cross-encoder of random weights behind the tokenizer of all-MiniLM-L6-v2. */
function madeUpRanker(): string {
  const [hidden, vocabulary, length] = [16, 30_522, 64];
  let state = 5;
  const made = (...shape: number[]) => {
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 1_073_741_824 - 1;
    });
    return { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) };
  };
  const dense = (name: string, out: number, inside: number) => ({
    [`${name}.weight`]: made(out, inside),
    [`${name}.bias`]: made(out),
  });
  const norm = (name: string) => ({ [`${name}.weight`]: made(hidden), [`${name}.bias`]: made(hidden) });
  const layer = 'bert.encoder.layer.0';
  const tensors = {
    'bert.embeddings.word_embeddings.weight': made(vocabulary, hidden),
    'bert.embeddings.position_embeddings.weight': made(length, hidden),
    'bert.embeddings.token_type_embeddings.weight': made(2, hidden),
    ...norm('bert.embeddings.LayerNorm'),
    ...dense(`${layer}.attention.self.query`, hidden, hidden),
    ...dense(`${layer}.attention.self.key`, hidden, hidden),
    ...dense(`${layer}.attention.self.value`, hidden, hidden),
    ...dense(`${layer}.attention.output.dense`, hidden, hidden),
    ...norm(`${layer}.attention.output.LayerNorm`),
    ...dense(`${layer}.intermediate.dense`, 2 * hidden, hidden),
    ...dense(`${layer}.output.dense`, hidden, 2 * hidden),
    ...norm(`${layer}.output.LayerNorm`),
    ...dense('bert.pooler.dense', hidden, hidden),
    ...dense('classifier', 1, hidden),
  };
  const config = {
    model_type: 'bert',
    vocab_size: vocabulary,
    hidden_size: hidden,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 2 * hidden,
    max_position_embeddings: length,
    type_vocab_size: 2,
    layer_norm_eps: 1e-12,
    hidden_act: 'gelu',
  };
  const files = Object.fromEntries(
    ['tokenizer.json', 'tokenizer_config.json'].map((name) => [name, readFileSync(join(path, name))]),
  );
  return temporaryFolder({
    ...files,
    'config.json': JSON.stringify(config),
    'model.safetensors': safetensors(tensors),
  });
}

test('a cross-encoder reads question and passage as one text of two parts, and cuts what is too long', async () => {
  const reranker = madeUpRanker();
  const engine = startEngine();
  const [query, passage] = ['When is the rent due?', 'It is due on the third working day.'];
  const texts = [passage, `${passage} And so on. `.repeat(40), ''];
  const { scores } = await engine.ask('rank', { target: { ...target, path: reranker }, query, texts });
  const { tokenizer } = await readModelText(addon, reranker);
  const { before, after } = tokenizer.around;
  const first = [...before, ...tokenizer.encodeText(query), ...after];
  const model = await addon.load(reranker);
  const pair = async (second: number[]) => {
    const tokens = Int32Array.from([...first, ...second, ...after]);
    return (await model.rank(tokens, Int32Array.of(first.length), Int32Array.of(tokens.length)))[0];
  };
  expect(scores[0]).toBeCloseTo((await pair(tokenizer.encodeText(passage))) ?? Number.NaN, 4);
  expect(scores[1]).toBeCloseTo(
    (await pair(tokenizer.encodeText(texts[1] ?? '').slice(0, 63 - first.length))) ?? Number.NaN,
    4,
  );
  expect(scores[2]).toBeCloseTo((await pair([])) ?? Number.NaN, 4);
  model.close();
  const vectors = engine.ask('embed', { target: { ...target, path: reranker }, texts, kind: 'passage', urgent: true });
  await expect(vectors).rejects.toThrow('scores pairs');
});
