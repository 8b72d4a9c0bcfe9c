// The committed words of the shaders: those of the sources, and nothing a plain device lacks.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/addon.ts';
import { temporaryFolder } from '../support/models/formats.ts';

const committed = join(repository, 'native', 'vulkan', 'spirv');
const shaders = join(repository, 'native', 'vulkan', 'shaders');
const names = readdirSync(committed).toSorted();
const wordsOf = (name: string) => {
  const bytes = readFileSync(join(committed, name));
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};

test('every shader has its words', () => {
  const sources = readdirSync(shaders).filter((name) => name.endsWith('.comp'));
  expect(names).toEqual(sources.map((name) => `${basename(name, '.comp')}.spv`).toSorted());
});

test('they are those of the sources', { timeout: 120_000 }, ({ skip }) => {
  const version = spawnSync('glslc', ['--version'], { encoding: 'utf8' }).stdout ?? '';
  if (!/^shaderc v?2023\.2/.test(version)) skip('needs glslc 2023.2 (Debian 12)');
  const fresh = temporaryFolder({});
  execFileSync(process.execPath, [join(shaders, 'compile.mjs'), fresh]);
  for (const name of names)
    expect(readFileSync(join(fresh, name)).equals(readFileSync(join(committed, name))), name).toBe(true);
});

test('spirv-val has nothing to say', ({ skip }) => {
  if (spawnSync('spirv-val', ['--version']).status !== 0) skip('needs spirv-val');
  for (const name of names) {
    const { status, stdout, stderr } = spawnSync('spirv-val', ['--target-env', 'vulkan1.2', join(committed, name)], {
      encoding: 'utf8',
    });
    expect([status, stdout, stderr], name).toEqual([0, '', '']);
  }
});

// Kernels that run only where the device lists it.
const [half, dotInput, dot] = [9, 6018, 6019];
const variants: Record<string, number[]> = { 'linear_dot.spv': [dotInput, dot], 'matmul_half.spv': [half] };

test.each(names)('%s asks for subgroup arithmetic and no 8-bit, 16-bit or 64-bit feature', (name) => {
  const words = wordsOf(name);
  const capabilities: number[] = [];
  for (let at = 5; at < words.length; at += (words[at] ?? 0) >>> 16)
    if (((words[at] ?? 0) & 0xffff) === 17) capabilities.push(words[at + 1] ?? 0);
  const [shader, subgroups, arithmetic] = [1, 61, 63];
  for (const capability of capabilities)
    expect([shader, subgroups, arithmetic, ...(variants[name] ?? [])]).toContain(capability);
});
