import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../../app/cli/runtime/safetensors.ts';
import { ENOUGH } from '../../../app/engine/process/generation/loop-recovery.ts';
import { circling, repetitive } from '../../support/models/circling.ts';
import { realModel } from '../../support/models/real-models.mjs';

const root = join(import.meta.dirname, '../../..');
const golden = join(root, 'test/golden');
const folder = mkdtempSync(join(tmpdir(), 'longhand-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

type Ran = { code: number | null; out: string; err: string };
function longhand(
  args: string[],
  { input, interruptAfter }: { input?: string; interruptAfter?: RegExp } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'app/cli/main.ts'), ...args], {
      cwd: folder,
      env: { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined },
    });
    const ran: Ran = { code: null, out: '', err: '' };
    let interrupted = false;
    child.stdout.setEncoding('utf8').on('data', (text) => {
      ran.out += text;
      // Once: a second one may meet a process that is ending and hears nothing any more.
      if (interrupted || !interruptAfter?.test(ran.out)) return;
      interrupted = child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      ran.err += text;
    });
    child.on('close', (code) => resolve({ ...ran, code }));
    child.stdin.end(input ?? '');
  });
}
/** An answer that goes in circles until the context is full. */
const circles = [
  'generate',
  '--prompt',
  repetitive,
  '--temperature',
  String(circling.temperature),
  '--frequency-penalty',
  String(circling.frequencyPenalty),
];

const answer = async (args: string[], options = {}) => {
  const ran = await longhand([...args, '--json'], options);
  expect(ran.out.trim().split('\n'), ran.err).toHaveLength(1);
  return { ...ran, ...JSON.parse(ran.out) };
};

describe('generate', () => {
  test('--loop-guard ends an answer that goes in circles and says what repeated', async () => {
    const limited = [...circles, '--max-tokens', '600'];
    const watched = await answer([...limited, '--loop-guard', 'balanced']);
    expect(watched).toMatchObject({ code: 0, finish_reason: 'loop' });
    expect(watched.loop).toMatchObject({
      kind: 'exact',
      text: ' old mill.',
      periodTokens: 3,
      repeats: 16,
      endToken: 47,
      savedTokens: 552,
    });
    expect(watched.tokens).toHaveLength(48);
    const free = await answer(limited);
    expect(free.loop).toBeNull();
    expect(free.tokens.length).toBeGreaterThan(48);
    expect((await longhand([...circles, '--loop-guard', 'often'])).code).toBe(2);
  });

  const { prompts } = json(join(root, 'resources/starter-model/reference.json'));
  test('gives the reference answers of the built-in model', async () => {
    const hello = prompts.find(({ name }: { name: string }) => name === 'chat-hello');
    const common = ['generate', '--model', 'starter', '--temperature', '0', '--precision', 'exact'];
    const result = await answer([...common, '--prompt', 'Hello! Who are you?']);
    expect(result).toMatchObject({
      code: 0,
      tokens: hello.greedy_ids,
      prompt_tokens: hello.ids.length,
      finish_reason: 'stop',
      thinking: '',
      text: hello.greedy_text ?? expect.any(String),
    });
    expect(result.timings.tokens_per_second).toBeGreaterThan(0);
    const story = prompts.find(({ name }: { name: string }) => name === 'raw-story');
    const raw = await answer([
      ...common,
      '--raw',
      '--prompt',
      story.text,
      '--max-tokens',
      String(story.greedy_ids.length),
    ]);
    expect(raw.tokens).toEqual(story.greedy_ids);
    const ids = await answer([...common, '--tokens', story.ids.join(','), '--max-tokens', '5']);
    expect(ids).toMatchObject({ tokens: story.greedy_ids.slice(0, 5), finish_reason: 'length' });
  });

  test('thinks when asked to, stops at a stop string, and repeats itself with a seed', async () => {
    const think = await answer(['generate', '--prompt', 'What is 47 + 85?', '--think', '--temperature', '0']);
    expect(think.thinking).not.toBe('');
    expect(think.text).not.toContain('<');
    const bound = ['--regex', 'The answer is [0-9]+\\.', '--think', '--temperature', '0'];
    const grammar = await answer(['generate', '--prompt', 'What is 47 + 85?', ...bound]);
    expect(grammar.text).toMatch(/^The answer is [0-9]+\.$/);
    expect(grammar.thinking).not.toBe('');
    const short = await answer(['generate', '--prompt', 'What is 47 + 85?', '--think-limit', '12', ...bound]);
    expect(short.thinking.endsWith(ENOUGH)).toBe(true);
    expect(short.thinking.length).toBeLessThan(grammar.thinking.length + ENOUGH.length);
    expect(short.text).toMatch(/^The answer is [0-9]+\.$/);
    const stop = await answer(['generate', '--prompt', 'Hello! Who are you?', '--temperature', '0', '--stop', 'ready']);
    expect(stop).toMatchObject({ text: 'Hello! I am ', finish_reason: 'stop' });
    const seeded = [
      'generate',
      '--prompt',
      'Tell me a story.',
      '--temperature',
      '1',
      '--seed',
      '7',
      '--max-tokens',
      '24',
    ];
    expect((await answer(seeded)).tokens).toEqual((await answer(seeded)).tokens);
  });

  test('prompts that could break it', async () => {
    for (const prompt of ['', '<|im_end|>\n<|im_start|>system', `a${'\u0301'.repeat(300)}`, ' '.repeat(100)]) {
      expect(await answer(['generate', '--prompt', prompt, '--max-tokens', '4'])).toMatchObject({ code: 0 });
    }
    const flood = await answer(['generate', '--prompt', '-', '--context', '512'], { input: 'word '.repeat(5000) });
    expect(flood).toMatchObject({ code: 1, error: { code: 'context-full' } });
    const full = await answer([...circles, '--context', '128']);
    expect(full).toMatchObject({ code: 0, finish_reason: 'context' });
    expect(full.prompt_tokens + full.tokens.length).toBeGreaterThanOrEqual(128);
  });

  test('Ctrl-C ends it with exit code 130 and what there is', async () => {
    // It cannot end before the signal comes.
    const ran = await longhand(circles, { interruptAfter: /\w/ });
    expect(ran.code).toBe(130);
    expect(ran.out).toMatch(/\w/);
    expect(ran.out + ran.err).not.toContain('\x1b[');
  });
});

test('chat keeps the conversation, and reads less the second time', async () => {
  const input = 'Hello! Who are you?\n\n/new\nHello! Who are you?\nAnd now?\n/quit\nnever asked\n';
  const ran = await longhand(['chat', '--temperature', '0', '--json'], { input });
  const turns = ran.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(ran.code).toBe(0);
  expect(turns).toHaveLength(3);
  expect(turns[1].text).toBe(turns[0].text);
  expect(turns[2].timings.cached_tokens).toBeGreaterThan(0);
  const shown = await longhand(['chat', '--temperature', '0'], { input: 'Hello! Who are you?\nAnd now?\n/quit\n' });
  const told = [...shown.err.matchAll(/(\d+) tokens read, (\d+) cached/g)].map(([, read, cached]) => [read, cached]);
  const of = ({ prompt_tokens: all, timings }: (typeof turns)[0]) =>
    [all - timings.cached_tokens, timings.cached_tokens].map(String);
  expect(told).toEqual([of(turns[0]), of(turns[2])]);
});

test.each([
  ['qwen3/qk_norm_tied', 'model folder without a tokenizer'],
  ['gguf_models/qwen35/model-f32.gguf', 'GGUF'],
])('logits of %s are those of the reference (%s)', async (path) => {
  const place = path.replace(/\/[^/]+\.gguf$/, '');
  const expected = json(join(golden, place, 'expected.json'));
  const [name = '', prompt] = Object.entries<{ ids: number[] } | number[]>(expected.prompts)[1] ?? [];
  const ids = Array.isArray(prompt) ? prompt : (prompt?.ids ?? []);
  const reference = readSafetensors(join(golden, place, 'expected.safetensors'));
  const wanted = reference.find((tensor) => [`logits.${name}`, `f32.logits.${name}`].includes(tensor.name));
  const out = join(folder, 'logits.safetensors');
  const asked = ['logits', '--model', join(golden, path), '--tokens', ids.join(','), '--out', out];
  const difference = (a: Float32Array, b: Float32Array) =>
    Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? Number.NaN))));

  const result = await answer([...asked, '--all']);
  expect(result).toMatchObject({ code: 0, rows: ids.length, path: 'exact' });
  const [tensor] = readSafetensors(out);
  expect(tensor).toMatchObject({ name: 'logits', shape: wanted?.shape });
  const all = tensor?.data ?? new Float32Array();
  expect(difference(all, wanted?.data ?? new Float32Array())).toBeLessThan(
    expected.tolerance?.logits_max_abs_fp32 ?? 1e-3,
  );
  expect((await answer(asked)).rows).toBe(1);
  const last = readSafetensors(out)[0]?.data ?? new Float32Array();
  expect(difference(last, all.subarray(-result.columns))).toBeLessThan(1e-5);
});

test('logits of a prompt with pictures are those of the reference', async () => {
  const place = join(golden, 'qwen3_5_vision/two_images');
  const { prompts, tolerance } = json(join(place, 'expected.json'));
  const stored = readSafetensors(join(place, 'expected.safetensors'));
  const tensor = (name: string) => stored.find((each) => each.name === name)?.data ?? new Float32Array();
  const pixels = join(folder, 'pixels.safetensors');
  const shown = [...tensor('pixels.b_160x224'), ...tensor('pixels.a_96x64')];
  const given = (grids: number[][]) =>
    writeSafetensors(pixels, [
      { name: 'pixel_values', shape: [shown.length / 1536, 1536], data: Float32Array.from(shown) },
      { name: 'image_grid_thw', shape: [grids.length, 3], data: Float32Array.from(grids.flat()) },
    ]);
  const out = join(folder, 'seen.safetensors');
  const asked = ['logits', '--model', place, '--tokens', prompts.two.ids.join(','), '--pixels', pixels, '--out', out];
  await given([
    [1, 14, 10],
    [1, 4, 6],
  ]);
  expect(await answer([...asked, '--all'])).toMatchObject({ code: 0, rows: prompts.two.ids.length });
  const wanted = tensor('logits.two');
  const got = readSafetensors(out)[0]?.data ?? new Float32Array();
  expect(Math.max(...wanted.map((value, i) => Math.abs(value - (got[i] ?? Number.NaN))))).toBeLessThan(
    tolerance.logits_max_abs_fp32,
  );
  await given([[1, 14, 10]]);
  expect((await answer(asked)).error.message).toContain('take 140 patches, "pixel_values" has 164');
});

test('tokenize, inspect, devices, trace and doctor answer in JSON', async () => {
  expect(await answer(['tokenize', '--text', 'Hello <|im_end|>'])).toMatchObject({ ids: [1141, 220, 8182] });
  expect((await answer(['tokenize', '--plain', '--text', '<|im_end|>'])).ids).not.toContain(8182);
  const bert = await answer(['tokenize', '--model', join(golden, 'tokenizers/wordpiece'), '--text', 'a']);
  expect(bert.ids).toEqual([2, 31, 3]);
  const model = await answer(['inspect', 'starter', '--context', '1000']);
  expect(model).toMatchObject({ supported: true, family: 'qwen3_5', vocabularySize: 8192, memory: { context: 1000 } });
  expect(model.memory.totalBytes).toBe(model.weightBytes + model.stateBytes + 1000 * model.contextBytesPerToken);
  expect((await answer(['devices'])).devices.map(({ id }: { id: string }) => id)).toContain('cpu');
  const file = join(folder, 'trace.safetensors');
  const exact = await answer(['trace', 'starter', '--tokens', '1,2,3', '--out', file]);
  expect(exact.layers).toHaveLength(10);
  expect(exact.layers[0]).toMatchObject({
    name: 'embedding',
    shape: [3, 256],
    mean: expect.any(Number),
    std: expect.any(Number),
  });
  expect((await answer(['trace', file, file])).largest_difference).toBe(0);
  expect((await answer(['trace', 'starter', 'exact', '--tokens', '1,2,3'])).largest_difference).toBe(0);
  const apart = await answer(['trace', 'starter', 'fast', '--tokens', '1,2,3']);
  const differences: number[] = apart.layers.map(({ difference }: { difference: number }) => difference);
  expect(apart.largest_difference).toBe(Math.max(...differences));
  expect(apart.largest_difference).toBeGreaterThan(Math.min(...differences));
  expect(await answer(['doctor'])).toMatchObject({ good: true, code: 0 });
});

test('embed gives the vectors of the published encoder', { timeout: 600_000 }, async () => {
  const real = join(golden, 'bert/all_minilm_l6_v2');
  const { sentences, tolerance } = json(join(real, 'expected.json'));
  const [first] = readSafetensors(join(real, 'expected.safetensors')).filter(({ name }) => name === 'embeddings');
  const { embedding } = await answer(['embed', '--model', await realModel('minilm'), '--text', sentences[0].text]);
  expect(embedding).toHaveLength(384);
  for (const [i, value] of embedding.entries()) {
    expect(Math.abs(value - (first?.data[i] ?? Number.NaN))).toBeLessThanOrEqual(tolerance.max_abs);
  }
});

test('bench measures what was asked for', async () => {
  // So many that the ids go round the vocabulary: each has to be one that the model has.
  const result = await answer(['bench', '--prompt-tokens', '2760', '--gen-tokens', '4', '--runs', '2']);
  expect(result).toMatchObject({ code: 0, read: 2760, write: 4, runs: 2, device: 'cpu' });
  const { median, least, most } = result.decode_tokens_per_second;
  expect(least).toBeLessThanOrEqual(median);
  expect(median).toBeLessThanOrEqual(most);
  expect(result.peak_memory_bytes).toBeGreaterThan(1e6);
});

describe('says what is wrong, with an honest exit code', () => {
  test.each([
    [[], 2, 'bad-request', 'longhand COMMAND'],
    [['nonsense'], 2, 'bad-request', '"nonsense" is not a command; commands: chat'],
    [['generate'], 2, 'bad-request', 'give either --prompt or --tokens'],
    [['generate', '--prompt', 'x', '--regex', '(a'], 2, 'bad-request', 'regular expression: a group without'],
    [['generate', '--prompt', 'x', '--precision', 'slow'], 2, 'bad-request', 'expected exact or fast'],
    [['generate', '--prompt', 'x', '--model', '/nowhere'], 1, 'model-broken', '/nowhere'],
    [['generate', '--prompt', 'x', '--device', 'toaster'], 1, '', 'toaster'],
    [
      ['generate', '--prompt', 'x', '--model', join(golden, 'qwen3/qk_norm_tied')],
      1,
      'model-broken',
      'tokenizer.json is missing',
    ],
    [['logits', '--out', 'x'], 2, 'bad-request', '--tokens is missing'],
    [['logits', '--tokens', '99999999', '--out', 'x'], 2, 'bad-request', '99999999'],
    [['logits', '--tokens', '1', '--out', '/nowhere/x'], 2, 'bad-request', 'the folder /nowhere does not exist'],
    [['logits', '--tokens', '1', '--out', '/'], 2, 'bad-request', '/ is a folder, expected a file'],
    [
      ['generate', '--prompt', 'x', '--temperature', '-1'],
      2,
      'bad-request',
      'temperature is -1, expected numbers from 0',
    ],
    [['generate', '--prompt', 'x', '--context', '0'], 2, 'bad-request', 'contextLength is 0, expected'],
    [['inspect', join(golden, 'tokenizers/wordpiece')], 1, '', ''],
    [['embed', '--text', 'x'], 1, '', ''],
    [['embed', '--json'], 2, 'bad-request', '[embed] --text is missing'],
  ])('%j', async (args, code, kind, words) => {
    const plain = await longhand(args);
    expect(plain.code, plain.err).toBe(code);
    expect(plain.out + plain.err).toContain(words);
    expect(plain.err).not.toMatch(/at .*\.ts:\d+/);
    if (args.length < 2) return;
    const asJson = await answer(args);
    expect(asJson.code).toBe(code);
    if (kind) expect(asJson.error.code).toBe(kind);
    expect(asJson.error.message).toContain(words);
  });
});

test('eval: perplexity, divergence from itself and from a saved reference; another text is refused', async () => {
  const prose = join(folder, 'prose.txt');
  writeFileSync(prose, readFileSync(join(root, 'resources/help/02-chat.md'), 'utf8').slice(0, 1500));
  const saved = join(folder, 'prose.reference');
  const first = await longhand(['eval', '--text', prose, '--window', '128', '--save-reference', saved, '--json']);
  expect(first.code).toBe(0);
  const { perplexity, tokens } = JSON.parse(first.out) as { perplexity: { value: number }; tokens: number };
  expect(perplexity.value).toBeGreaterThan(1);
  const again = JSON.parse(
    (await longhand(['eval', '--text', prose, '--window', '128', '--reference', saved, '--json'])).out,
  );
  expect(again).toMatchObject({ tokens, same_top: { value: 1 }, perplexity: { value: perplexity.value } });
  expect(again.kld.value).toBeLessThan(1e-6);
  const windows = await longhand(['eval', '--text', prose, '--window', '64', '--reference', saved]);
  expect(windows).toMatchObject({ code: 2 });
  expect(windows.err).toMatch(/another text, tokenizer or window size/);
});

test('eval --cache: what a smaller context memory costs, against the same model with its usual one', async () => {
  const prose = join(folder, 'cached.txt');
  writeFileSync(prose, readFileSync(join(root, 'resources/help/02-chat.md'), 'utf8').slice(0, 1500));
  const lost = async (cache: string) => {
    const args = ['eval', '--text', prose, '--reference', 'starter', '--cache', cache, '--json'];
    return (JSON.parse((await longhand(args)).out) as { kld: { value: number } }).kld.value;
  };
  expect(await lost('f16')).toBe(0);
  const eight = await lost('q8');
  expect(eight).toBeGreaterThan(0);
  expect(await lost('q4')).toBeGreaterThan(10 * eight);
  const unknown = await longhand(['eval', '--text', prose, '--cache', 'q5']);
  expect(unknown.code).toBe(2);
  expect(unknown.err).toMatch(/q5/);
});

test('eval --reading: how much of the right answers a model gives to questions about texts', async () => {
  const file = join(folder, 'texts.jsonl');
  const line = {
    context: 'The monthly rent is 840 euros. '.repeat(300),
    input: 'What is the rent?',
    answers: ['840 euros'],
  };
  writeFileSync(file, JSON.stringify(line));
  const asked = ['eval', '--reading', file, '--longest', '300', '--max-tokens', '16'];
  const { score, shortened, metric } = JSON.parse((await longhand([...asked, '--json'])).out);
  expect({ shortened, metric }).toEqual({ shortened: 1, metric: 'f1' });
  expect(score.value).toBeGreaterThan(0);
  expect((await longhand([...asked, '--metric', 'exact'])).out).toMatch(
    /^exact .* over 1 question\n1 text was too long/,
  );
  expect(await longhand(['eval', '--reading', file, '--needle'])).toMatchObject({ code: 2 });
});

test('eval: one thing at a time, and files that are there', async () => {
  expect(await longhand(['eval'])).toMatchObject({ code: 2 });
  expect(await longhand(['eval', '--needle', '--text', 'x'])).toMatchObject({ code: 2 });
  expect(await longhand(['eval', '--needle', '--reference', 'x'])).toMatchObject({ code: 2 });
  const none = await longhand(['eval', '--choices', 'nowhere.jsonl']);
  expect(none.code).toBe(2);
  expect(none.err).toMatch(/nowhere.jsonl is not a file/);
});
