// What can go wrong with a GPU, injected: the turn fails with a code, nothing crashes, and the next one is right.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readCase } from '../../support/models/golden.ts';
import { loadOnMetal, needsStandin, standin } from '../standin.ts';

needsStandin();

const reference = readCase('qwen3_5/dense_tied');
const prompt = reference.prompts.find(({ greedy }) => greedy !== undefined) ?? { ids: new Int32Array(), greedy: [] };
const cache = mkdtempSync(join(tmpdir(), 'longhand-pipelines-'));
afterAll(() => rmSync(cache, { recursive: true }));

beforeEach(() => {
  process.env.LONGHAND_METAL_CACHE = cache;
});
afterEach(() => standin.faults({}));

async function answer(): Promise<number[]> {
  const model = await loadOnMetal(reference.folder);
  const session = model.createSession({ path: 'exact' });
  const { tokens } = await session.generate(prompt.ids, { maxTokens: 3, path: 'exact' });
  model.close();
  return tokens;
}
const right = prompt.greedy?.slice(0, 3);

describe('faults', () => {
  test('no Metal device is a reason, not a crash', async () => {
    standin.faults({ noDevice: true });
    await expect(loadOnMetal(reference.folder)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('no Metal device'),
    });
  });

  test('too little memory is an error with code `memory`', async () => {
    standin.faults({ memoryLimit: standin.counters().allocated + 100_000 });
    await expect(answer()).rejects.toMatchObject({
      code: 'memory',
      message: expect.stringContaining('the GPU cannot give'),
    });
    standin.faults({});
    expect(await answer()).toEqual(right);
  });

  test('a kernel that does not compile is an error with code `device` that names it', async () => {
    standin.faults({ compileError: 'kernel]] void gated_delta_step' });
    await expect(answer()).rejects.toMatchObject({
      code: 'device',
      message: expect.stringContaining('gated_delta.metal does not compile'),
    });
    standin.faults({});
    expect(await answer()).toEqual(right);
  });

  test.each([
    ['an internal error', 1, 'Internal Error'],
    ['a timeout', 2, 'GPU Timeout'],
    ['no memory left on the GPU', 8, 'Insufficient Memory'],
  ])(
    '%s of a command buffer ends the turn; the same session then gives the right answer',
    async (_title, code, text) => {
      const model = await loadOnMetal(reference.folder);
      const session = model.createSession({ path: 'exact' });
      standin.faults({ commandBuffer: 2, commandBufferCode: code });
      await expect(session.generate(prompt.ids, { maxTokens: 3, path: 'exact' })).rejects.toMatchObject({
        code: 'device',
        message: expect.stringContaining(text),
      });
      standin.faults({});
      const { tokens } = await session.generate(prompt.ids, { maxTokens: 3, path: 'exact' });
      expect(tokens).toEqual(right);
      model.close();
    },
  );

  test('a GPU that allows smaller threadgroups than a kernel needs says so', async () => {
    standin.faults({ pipelineThreads: 32 });
    await expect(answer()).rejects.toMatchObject({
      code: 'device',
      message: expect.stringMatching(/runs with \d+ threads, this GPU allows 32/),
    });
  });
});

describe('pipelines on disk', () => {
  const archive = () => join(cache, readdirSync(cache).find((name) => name.endsWith('.metalar')) ?? 'none');

  test('are written once and found at the next start', async () => {
    expect(await answer()).toEqual(right);
    standin.reset();
    expect(await answer()).toEqual(right);
    expect(standin.counters()).toMatchObject({ archiveMisses: 0 });
    expect(standin.counters().archiveHits).toBeGreaterThan(5);
  });

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, 10)],
    ['empty', () => Buffer.alloc(0)],
    ['of another system', () => Buffer.from('MTLBinaryArchive of another system')],
  ])('an archive %s is rebuilt without a word', async (_title, spoil) => {
    expect(await answer()).toEqual(right);
    writeFileSync(archive(), spoil(readFileSync(archive())));
    expect(await answer()).toEqual(right);
    standin.reset();
    expect(await answer()).toEqual(right);
    expect(standin.counters().archiveMisses).toBe(0);
  });

  test('a folder that cannot be written costs the archive, not the answer', async () => {
    process.env.LONGHAND_METAL_CACHE = join(archive(), 'below a file');
    expect(await answer()).toEqual(right);
  });
});

test('LONGHAND_METAL_CAPTURE writes the first pass into a document', async () => {
  process.env.LONGHAND_METAL_CAPTURE = join(cache, 'first.gputrace');
  try {
    expect(await answer()).toEqual(right);
  } finally {
    delete process.env.LONGHAND_METAL_CAPTURE;
  }
  expect(readFileSync(join(cache, 'first.gputrace'), 'utf8')).toContain('gated_delta');
});
