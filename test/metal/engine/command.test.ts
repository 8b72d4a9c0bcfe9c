// `longhand ... --device metal --standin`: the starter model, a real tokenizer, the whole engine over the Metal back end.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repository } from '../../support/addon.ts';

async function longhand<Answer>(...words: string[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(repository, 'app/cli/main.ts'), ...words, '--json'],
    { env: { ...process.env, LONGHAND_ROOT: repository } },
  );
  return JSON.parse(stdout) as Answer;
}

async function tokens(...device: string[]): Promise<number[]> {
  const prompt = ['--prompt', 'la la la la', '--raw', '--temperature', '0', '--max-tokens', '6', '--path', 'exact'];
  return (await longhand<{ tokens: number[] }>('generate', ...prompt, ...device)).tokens;
}

test('the starter says the same on Metal as on the CPU', { timeout: 240_000 }, async () => {
  const onMetal = await tokens('--device', 'metal', '--standin');
  expect(onMetal).toHaveLength(6);
  expect(onMetal).toEqual(await tokens('--device', 'cpu'));
});

test('bench --profile tells the time of each kernel, where the device can', { timeout: 240_000 }, async () => {
  type Answer = { kernels: { name: string; count: number; ms: number }[] };
  const short = ['bench', '--read', '12', '--write', '3', '--runs', '1', '--profile'];
  const { kernels } = await longhand<Answer>(...short, '--device', 'metal', '--standin');
  expect(kernels.map(({ name }) => name)).toContain('linear_mat');
  for (const { count, ms } of kernels) expect(Math.min(count, ms)).toBeGreaterThan(0);
  expect((await longhand<Answer>(...short, '--device', 'cpu')).kernels).toEqual([]);
});
