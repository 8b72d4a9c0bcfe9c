// This machine's peak performance, and how much of it a row reached.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { json } from './measure.mjs';

const root = join(import.meta.dirname, '../../..');

/** Compiles and runs test/bench/llama/peaks.cc; null without a compiler. */
export function peaksOf(threads) {
  const binary = join(root, 'build', 'bench', 'peaks');
  mkdirSync(join(root, 'build', 'bench'), { recursive: true });
  try {
    const flags = ['-std=c++20', '-O3', '-march=native', '-pthread'];
    execFileSync('c++', [...flags, join(import.meta.dirname, 'peaks.cc'), '-o', binary], { stdio: 'pipe' });
    return json(binary, [threads]);
  } catch (error) {
    console.error(`[bench] the peaks of this machine cannot be measured: ${error.message.split('\n')[0]}`);
    return null;
  }
}

/** Multiplications of prefill and weight bytes of decode, as shares of those peaks. */
export const shares = ({ work, read, prefill, decode }, peaks) => ({
  products: peaks ? (prefill.median * (work.layers + work.head / read)) / peaks.products : null,
  bandwidth: peaks ? (decode.median * work.bytes) / peaks.read : null,
});
