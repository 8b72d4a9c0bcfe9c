// `longhand ... --device metal --standin`: the starter model, a real tokenizer, the whole engine over the Metal back end.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repository } from '../support/addon.ts';

async function tokens(...device: string[]): Promise<number[]> {
  const prompt = ['--prompt', 'la la la la', '--raw', '--temperature', '0', '--max-tokens', '6', '--path', 'exact'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(repository, 'app/cli/main.ts'), 'generate', ...prompt, ...device, '--json'],
    { env: { ...process.env, LONGHAND_ROOT: repository } },
  );
  return (JSON.parse(stdout) as { tokens: number[] }).tokens;
}

test('the starter says the same on Metal as on the CPU', { timeout: 240_000 }, async () => {
  const onMetal = await tokens('--device', 'metal', '--standin');
  expect(onMetal).toHaveLength(6);
  expect(onMetal).toEqual(await tokens('--device', 'cpu'));
});
