// What every call takes: a figure at its limit, and the words that refuse the next one, wherever it stands.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenerateOptions, Model, Session } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../../support/addon.ts';
import { temporaryFolder } from '../../support/models/formats.ts';
import { starter } from '../../support/models/models.ts';

let model: Model;
let encoder: Model;
let session: Session;
let vocabulary = 0;
beforeAll(async () => {
  model = await addon.load(join(golden, 'llama/gqa_tied'), { device: 'cpu' });
  encoder = await addon.load(join(golden, 'bert/tiny'), { device: 'cpu' });
  session = model.createSession({ path: 'exact' });
  vocabulary = model.vocabularySize;
});
afterAll(() => {
  model.close();
  encoder.close();
});

type Call = () => unknown;
const call = async (make: Call) => make();
const prompt = Int32Array.of(1, 2, 3);
const generate = (options: object) => () =>
  session.generate(prompt, { maxTokens: 1, temperature: 0, ...options } as GenerateOptions);
const ANY = 1e6;

describe('what is taken', () => {
  test.each<[string, Call]>([
    ['no tokens', generate({ maxTokens: 0 })],
    ['the hottest', generate({ temperature: ANY, seed: 1 })],
    ['everything of top-k, top-p and min-p', generate({ topK: 2147483647, topP: 1, minP: 1, temperature: 1, seed: 0 })],
    ['nothing of top-k, top-p and min-p', generate({ topK: 0, topP: 0, minP: 0, temperature: 1, seed: 2 ** 53 - 1 })],
    ['the smallest penalty', generate({ repetitionPenalty: 1e-3, presencePenalty: -1e6, frequencyPenalty: -1e6 })],
    ['windows without end, and none', generate({ penaltyWindow: -1 })],
    ['no window', generate({ penaltyWindow: 0, repetitionPenalty: 2 })],
    ['DRY at its least', generate({ dry: { multiplier: 0, base: 1, allowedLength: 1, window: -1, breakers: [] } })],
    ['biases at their ends', generate({ bias: { tokens: [0, 1], values: [-1e6, 1e6] } })],
    ['null for what has a value', generate({ topP: null, stopTokens: null, signal: null, owner: null, dry: null })],
    ['an owner of 128 letters', generate({ owner: 'aZ09_-'.padEnd(128, 'x') })],
    ['the last token', () => session.generate(Int32Array.of(vocabulary - 1), { maxTokens: 1, temperature: 0 })],
    ['logits one token at a time', () => session.logits(prompt, { chunk: 1 })],
    ['every candidate of a score', () => session.score(prompt, { top: vocabulary })],
    ['the last token at each place', () => session.score(prompt, { at: [0, vocabulary - 1] })],
    ['a rewind to where it is', () => session.rewind(session.tokens().length)],
    ['a plan of 1024 sessions', () => model.memoryPlan({ sessions: 1024, contextLength: 0, cacheBytes: 2 ** 53 - 1 })],
    ['no prompt cache', () => model.setPromptCache(0)],
    ['one thread', () => model.setThreads(1)],
  ])('%s', async (_, make) => {
    await expect(call(make)).resolves.not.toThrow();
  });
});

const of = (what: string) => `[generate] ${what}`;
const array = (values: number[]) => values as unknown as Int32Array;
describe('what is refused', () => {
  test.each<[Call, string]>([
    [generate({ maxTokens: -1 }), of('maxTokens is -1, expected numbers from 0 to ')],
    [generate({ maxTokens: 0.5 }), of('maxTokens is 0.5, expected whole numbers')],
    [generate({ maxTokens: 'all' }), of('maxTokens is "all", expected numbers from 0 to ')],
    [generate({ temperature: -0.001 }), of('temperature is -0.001, expected numbers from 0 to ')],
    [generate({ topK: 2147483648 }), of('topK is 2147483648, expected numbers from 0 to 2147483647')],
    [generate({ topP: 1.001 }), of('topP is 1.001, expected numbers from 0 to 1')],
    [generate({ topP: -0.001 }), of('topP is -0.001, expected numbers from 0 to 1')],
    [generate({ minP: 1.001 }), of('minP is 1.001, expected numbers from 0 to 1')],
    [generate({ minP: [] }), of('minP is of another kind, expected numbers from 0 to 1')],
    [generate({ repetitionPenalty: 0.0009 }), of('repetitionPenalty is 0.0009, expected numbers from 0.001 to ')],
    [generate({ presencePenalty: Number.NaN }), of('presencePenalty is nan, expected numbers from -')],
    [generate({ logprobs: 1048577 }), of('logprobs is 1048577, expected numbers from 0 to 1048576')],
    [generate({ seed: -1 }), of('seed is -1, expected numbers from 0 to ')],
    [generate({ penaltyWindow: -2 }), of('penaltyWindow is -2, expected numbers from -1 to ')],
    [generate({ dry: { multiplier: -1 } }), of('multiplier is -1, expected numbers from 0 to ')],
    [generate({ dry: { multiplier: 1, base: 0.9 } }), of('base is 0.9, expected numbers from 1 to ')],
    [generate({ dry: { multiplier: 1, allowedLength: 0 } }), of('allowedLength is 0, expected numbers from 1 to ')],
    [generate({ dry: { multiplier: 1, window: -2 } }), of('window is -2, expected numbers from -1 to ')],
    [generate({ dry: 3 }), of('the options are not an object')],
    [generate({ stopTokens: 3 }), of('stopTokens is 3, expected arrays of token ids')],
    [generate({ stopTokens: [-1] }), of('stopTokens is of another kind, expected arrays of token ids')],
    [generate({ stopTokens: [2147483648] }), of('stopTokens is of another kind, expected arrays of token ids')],
    [generate({ forbidden: [1.5] }), of('forbidden is of another kind, expected arrays of token ids')],
    [
      generate({ bias: { tokens: [1], values: [1e6 + 1] } }),
      of('values is of another kind, expected as many numbers from -1000000 to 1000000 as tokens'),
    ],
    [generate({ bias: { tokens: [1], values: [1, 2] } }), of('values is of another kind, expected as many numbers')],
    [generate({ bias: { tokens: [1], values: ['1'] } }), of('values is of another kind, expected as many numbers')],
    [generate({ bias: { tokens: [1] } }), of('values is of another kind, expected as many numbers')],
    [generate({ path: 'slow' }), of('path is "slow", expected exact and fast')],
    [generate({ cachePrompt: 1 }), of('cachePrompt is 1, expected true and false')],
    [generate({ owner: 7 }), of('owner is 7, expected strings')],
    [generate({ owner: 'x'.repeat(129) }), 'owner has to be at most 128 letters, digits, underscores and hyphens'],
    [generate({ owner: 'a/b' }), 'owner has to be at most 128 letters, digits, underscores and hyphens'],
    [generate({ signal: {} }), of('signal is of another kind, expected instances of AbortFlag')],
    [generate({ signal: 3 }), of('signal is 3, expected instances of AbortFlag')],
    [generate({ grammar: {} }), of('grammar is not an instance of Grammar')],
    [generate({ pictures: {} }), '[pictures] expected an array of { pixels: Float32Array, grid: numbers }'],
    [generate({ pictures: [{ grid: [1, 2, 2] }] }), '[pictures] expected an array of { pixels: Float32Array'],
    [generate({ pictures: [{ pixels: [1], grid: [1, 2, 2] }] }), '[pictures] expected an array of { pixels'],
    [
      generate({ pictures: [{ pixels: new Float32Array(4), grid: [1, 2] }] }),
      '[pictures] a grid has 2 numbers, expected frames, rows and columns from 1, 131072 patches in all',
    ],
    [generate({ pictures: [{ pixels: new Float32Array(4), grid: [] }] }), '[pictures] a grid has 0 numbers'],
    [generate({ pictures: [{ pixels: new Float32Array(4), grid: [1, 1, 1, 1] }] }), '[pictures] a grid has 4 numbers'],
    [
      generate({ pictures: [{ pixels: new Float32Array(4), grid: [1, 1, 1, 1, 1, 1] }] }),
      '[pictures] expected an array',
    ],
    [generate({ pictures: [{ pixels: new Float32Array(4), grid: [1, 0, 1] }] }), '[pictures] a grid holds 0'],
    [generate({ pictures: [{ pixels: new Float32Array(4), grid: [1, 65537, 1] }] }), '[pictures] a grid holds 65537'],
    [generate({ pictures: [{ pixels: new Float32Array(4), grid: [2, 256, 257] }] }), 'a grid has 131584 patches'],
    [generate({ pictures: [{ pixels: new Float32Array(4), grid: [2, 2, 2] }] }), 'picture'],
    [() => session.generate(array([1]), { maxTokens: 1 }), of('the tokens are not an Int32Array')],
    [
      () => session.generate(Int32Array.of(vocabulary), { maxTokens: 1 }),
      '[session] token 0 is 197, expected 0 to 196',
    ],
    [() => session.generate(prompt, 3 as never), of('the options are not an object')],
    [() => session.score(prompt, { from: 0 }), '[score] from is 0, expected numbers from 1 to '],
    [() => session.score(prompt, { from: 3 }), '[score] from 3 leaves nothing to score of 3 tokens'],
    [() => session.score(prompt, { top: vocabulary + 1 }), `expected 0 to `],
    [() => session.score(prompt, { at: [0, 1, 2] }), '[score] at has 3 tokens, expected a multiple of 2'],
    [() => session.score(prompt, { at: [0, vocabulary] }), 'the vocabulary has'],
    [() => session.logits(prompt, { chunk: 0 }), '[logits] chunk is 0, expected numbers from 1 to '],
    [() => session.logits(prompt, { generated: -1 }), '[logits] generated is -1, expected numbers from 0 to '],
    [() => session.rewind('a' as never), '[session] rewind takes a length'],
    [() => session.rewind(-1), '[session]'],
    [() => model.createSession({ contextLength: 0 }), '[session] contextLength is 0, expected numbers from 1 to '],
    [() => model.createSession({ kvType: 'q5' as never }), '[session] kvType is "q5", expected f32, f16, q8 or q4'],
    [() => model.memoryPlan({ sessions: 1025 }), '[memoryPlan] sessions is 1025, expected numbers from 1 to 1024'],
    [() => model.setPromptCache(-1), '[model] setPromptCache takes a number of bytes, 0 and more'],
    [() => model.setPromptCache('all' as never), '[model] setPromptCache takes a number of bytes, 0 and more'],
    [() => model.setThreads(0), '[model] setThreads takes 1 to '],
    [() => model.setThreads(0.5), '[model] setThreads takes 1 to '],
    [() => model.setThreads(100_000), '[model] setThreads takes 1 to '],
    [() => model.erasePromptCache(''), '[model] erasePromptCache takes the name of an owner'],
    [() => model.erasePromptCache('..'), 'owner has to be at most 128 letters'],
    [
      () => model.relieveMemory({ critical: 'yes' as never }),
      '[relieveMemory] critical is "yes", expected true and false',
    ],
    [() => model.see([1] as unknown as Float32Array, Int32Array.of(1, 1, 1), {}), 'Float32Array'],
    [() => addon.load(5 as never), 'path'],
    [() => addon.load(starter, { verify: 'yes' as never }), '[load] verify is "yes", expected true and false'],
    [() => addon.load(starter, { device: 'vulkan:x' }), 'there is no such device, expected cpu, metal or vulkan:0'],
    [() => addon.load(starter, { device: 'vulkan:1x' }), 'there is no such device, expected cpu, metal or vulkan:0'],
    [() => addon.load(starter, { device: 'CPU' }), 'there is no such device, expected cpu, metal or vulkan:0'],
    [() => addon.describe('{}', [], 'onnx' as never), 'container is "onnx", expected safetensors, mlx or gguf'],
    [() => addon.describe('{}', {} as never, 'gguf'), '[describe] tensors are not a list of {name, type, shape}'],
    [() => addon.describe('{}', [3] as never, 'gguf'), '[describe] tensors are not a list of {name, type, shape}'],
    [() => addon.describe('{}', [{ name: 'a', type: 'F32' }] as never, 'gguf'), 'not a list of {name, type, shape}'],
    [() => addon.describe('{}', [{ name: 'a', shape: [] }] as never, 'gguf'), 'not a list of {name, type, shape}'],
    [() => addon.recognise('x' as never), '[recognise] the picture is not a Uint8Array'],
    [() => encoder.createSession(), '[session] an encoder has no sessions: use embed'],
    [() => encoder.rank(prompt, Int32Array.of(1), Int32Array.of(3)), '[rank] this model does not score pairs of texts'],
    [() => encoder.embed(new Int32Array(), Int32Array.of(0)), '[embed] there are no tokens, expected at least 1'],
    [() => encoder.embed(prompt, Int32Array.of(2)), '[embed] the lengths do not add up to the number of tokens'],
    [() => encoder.embed(prompt, Int32Array.of(2, 2)), '[embed] the lengths do not add up to the number of tokens'],
    [() => encoder.embed(prompt, Int32Array.of(4, -1)), '[embed] the lengths do not add up to the number of tokens'],
    [() => encoder.embed(new Int32Array(), new Int32Array()), '[embed] the lengths do not add up'],
    [() => encoder.embed(prompt, Int32Array.of(3, 0)), '[embed] there are no tokens, expected at least 1'],
    [
      () => encoder.embed(new Int32Array(1000).fill(1), Int32Array.of(1000)),
      '[embed] the text has 1000 tokens, this model reads ',
    ],
    [() => model.embed(prompt, Int32Array.of(3)), '[embed] this model writes text: embeddings come from encoders'],
  ])('%#: said and refused', async (make, message) => {
    await expect(call(make)).rejects.toThrow(message);
  });

  test('objects that nobody may make', () => {
    for (const name of ['Model', 'Session'] as const)
      expect(() => Reflect.construct((addon as unknown as Record<string, () => unknown>)[name] ?? Object, [])).toThrow(
        '[',
      );
  });

  test('what is closed says so', async () => {
    const other = await addon.load(join(golden, 'llama/gqa_tied'), { device: 'cpu' });
    const own = other.createSession();
    own.close();
    for (const make of [() => own.tokens(), () => own.generate(prompt, { maxTokens: 1 }), () => own.rewind(0)])
      await expect(call(make)).rejects.toMatchObject({ code: 'state' });
    other.close();
    for (const make of [
      () => other.createSession(),
      () => other.promptCache(),
      () => other.setThreads(1),
      () => other.observed(),
      () => other.setPromptCacheDisk({ folder: temporaryFolder(), bytes: 1 }),
    ])
      await expect(call(make)).rejects.toMatchObject({ code: 'state' });
  });
});
