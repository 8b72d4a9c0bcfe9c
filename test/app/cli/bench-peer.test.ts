// What `npm run bench` makes of another program's figures and of its own results. The program is a script that prints what
// llama-bench -o json does; the results are those in the tree.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { byProgram } from '../../bench/llama/measure.mjs';
import { overview } from '../../bench/llama/report.mjs';
import { fromCsv } from '../../bench/llama/table.mjs';
import { repository } from '../../support/addon.ts';
import { newFolder } from '../../support/core/core.ts';

const job = { model: 'm.gguf', read: 512, write: 64, threads: 2 };

function program(printed: unknown): string {
  const path = join(newFolder(), 'llama-bench');
  writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(printed)}\nEND\n`);
  chmodSync(path, 0o755);
  return path;
}

test('another program’s speeds are those of the prompt and of the answer that were asked for', () => {
  const tests = [
    { n_prompt: 128, n_gen: 0, avg_ts: 1 },
    { n_prompt: 512, n_gen: 0, avg_ts: 256 },
    { n_prompt: 0, n_gen: 64, avg_ts: 16 },
  ];
  expect(byProgram(program(tests), job)).toMatchObject({ prefill: 256, decode: 16, firstTokenMs: 2000, memory: null });
});

test('a program that tells no speed is an error, not a figure', () => {
  for (const said of [[], [{ n_prompt: 512, n_gen: 0, avg_ts: 256 }]])
    expect(() => byProgram(program(said), job)).toThrow('no speeds');
});

test('the overview shows the medians of every processor’s results', () => {
  const folder = join(repository, 'test', 'bench', 'results');
  const rows = fromCsv(readFileSync(join(folder, 'amd-epyc-zen-5.csv'), 'utf8')) as Record<string, never>[];
  const row = rows.find(({ model, read, threads }) => model === 'Qwen3-0.6B Q4_0' && read === 512 && threads === 2);
  const { prefillRatio, decodeRatio } = row as unknown as Record<string, { median: number }>;
  const [head = '', , ...lines] = overview(folder).split('\n');
  const column = head.split('|').findIndex((name: string) => name.includes('Zen 5'));
  const cell = lines.find((line: string) => line.startsWith('| Qwen3-0.6B Q4_0, 512'))?.split('|')[column];
  expect(cell?.trim()).toBe(`${prefillRatio?.median.toFixed(1)} / ${decodeRatio?.median.toFixed(1)}`);
});
