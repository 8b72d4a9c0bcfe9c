// The draw of mutants: what it finds in a text, and that each is on only when it is asked for.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { instrumented, replaced } from './draw/instrument.mjs';
import { sitesOf } from './draw/sites.mjs';

type Site = { file: string; start: number; end: number; line: number; operator: string; from: string; to: string };

const folder = mkdtempSync(join(tmpdir(), 'longhand-draw-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function sitesIn(name: string, text: string): Promise<Site[]> {
  writeFileSync(join(folder, name), text);
  return sitesOf(folder, name);
}
const mutants = (sites: readonly Site[]) => sites.map(({ operator, from, to }) => `${operator}: ${from} → ${to}`);

test('TypeScript: borders, guards, waits and arguments, but no types and no words of an error', async () => {
  const sites = await sitesIn(
    'a.ts',
    `const outside = 3 < 4;
export async function copy(from: string, to: string, most: Partial<Record<'a' | 'b', number>>): Promise<number> {
  if (from === to) throw new Error('[copy] ' + (most.a ?? 0));
  await file.sync();
  rename(from, to);
  return list.every((one) => one.size <= limit - 1) ? 'a' + from : count + 2;
}
`,
  );
  expect(mutants(sites)).toEqual([
    'guard: from === to → false',
    'comparison: from === to → from !== to',
    'barrier: await file.sync() → ',
    'await: await file.sync() → void file.sync()',
    'call left out: rename(from, to) → ',
    'swapped argument: rename(from, to) → rename(to, from)',
    'comparison: list.every((one) => one.size <= limit - 1) → list.some((one) => one.size <= limit - 1)',
    'comparison: one.size <= limit - 1 → one.size < limit - 1',
    'bounds: limit - 1 → limit',
    'sign: count + 2 → count - 2',
  ]);
});

test('C++: strides, tails and barriers, but nothing that the compiler works out', async () => {
  const sites = await sitesIn(
    'a.metal',
    `template <int R> kernel void rows(device float* y [[buffer(0)]], constant Params& p, uint lane) {
  static_assert(R < 8, "few");
  constexpr int half_rows = R / 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int blocks = (p.in + 32 - 1) / 32, whole = p.in - p.in % 4;
  for (int k = lane; k < whole; k += 32) y[token * p.stride + k] = part[k % 8] * p.scale;
}
`,
  );
  expect(mutants(sites)).toEqual([
    'barrier: threadgroup_barrier(mem_flags::mem_threadgroup) → ',
    'tail: (p.in + 32 - 1) / 32 → (p.in) / 32',
    'bounds: p.in + 32 - 1 → p.in + 32',
    'sign: p.in + 32 → p.in - 32',
    'tail: p.in - p.in % 4 → p.in',
    'tail: p.in % 4 → p.in % (4 + 1)',
    'comparison: k < whole → k <= whole',
    'sign: k += 32 → k -= 32',
    'sign: token * p.stride + k → token * p.stride - k',
    'stride: token * p.stride → token * (p.stride + 1)',
    'scale: part[k % 8] * p.scale → part[k % 8] / p.scale',
    'tail: k % 8 → k % (8 + 1)',
  ]);
  const barrier = sites[0] as Site;
  expect(replaced(readFileSync(join(folder, 'a.metal'), 'utf8'), barrier)).toContain('\n  (void)0;\n');
});

test('a mutant is on in every process that a test starts, when it is asked for, and says that it was reached', async () => {
  const text = `import { execFileSync } from 'node:child_process';
function least(count: number) {
  return count <= 3;
}
if (process.argv[2]) console.log(least(3));
else console.log(String(execFileSync(process.execPath, [import.meta.filename, 'child'])).trim());
`;
  const [border] = (await sitesIn('b.ts', text)).filter(({ from }) => from === 'count <= 3');
  writeFileSync(join(folder, 'b.ts'), instrumented(text, [{ ...border, id: 7 }]));
  const said = (env: Record<string, string>) =>
    String(execFileSync(process.execPath, [join(folder, 'b.ts')], { env: { ...process.env, ...env } })).trim();
  expect(said({})).toBe('true');
  expect(said({ LONGHAND_MUTANT: '6' })).toBe('true');
  expect(said({ LONGHAND_MUTANT: '7' })).toBe('false');
  const reached = join(folder, 'reached');
  expect(said({ LONGHAND_MUTANTS_REACHED: reached })).toBe('true');
  expect(readFileSync(reached, 'utf8')).toBe('7\n');
});
