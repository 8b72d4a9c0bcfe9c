// npm run test:tsan: the thread pool, the packed ops and whole sessions under ThreadSanitizer. `npm test` runs the first
// program only, which compiles in seconds: every op of the CPU back end in its portable form.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Ended, filesOf, type Program, runProgram } from './programs.ts';

const FLAGS = ['-std=c++20', '-g1', '-O1', '-fsanitize=thread', '-pthread', '-DLONGHAND_PORTABLE'];
/** Without the loops of single instruction sets: those touch what the scalar ones touch, and take long to compile. */
const cpu = filesOf('native/cpu').filter((file) => !file.includes('/kernels_'));
const blocks = ['blocks', 'dequantise', 'dequantise_blocks', 'mapped_file', 'utf8', 'verify'];

const programs = (compiler: string): Record<'races' | 'sessions', Program> => ({
  races: {
    name: 'races',
    compiler: [compiler, ...FLAGS],
    header: 'native/cpu/backend.h',
    sources: ['test/native/cpu/races.cc', ...cpu, ...blocks.map((name) => `native/formats/${name}.cc`)],
  },
  sessions: {
    name: 'sessions',
    compiler: [compiler, ...FLAGS],
    header: 'native/cpu/backend.h',
    sources: [
      'test/native/cpu/sessions.cc',
      ...['cpu', 'formats', 'architectures', 'engine'].flatMap((folder) =>
        filesOf(`native/${folder}`).filter((file) => !file.includes('/kernels_')),
      ),
    ],
  },
});

/** The first compiler whose ThreadSanitizer links and runs here. */
export function sanitisingCompiler(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-tsan-'));
  const source = join(folder, 'probe.cc');
  writeFileSync(source, '#include <thread>\nint main() { std::thread([] {}).join(); }\n');
  const works = (compiler: string) => {
    const binary = join(folder, compiler);
    return spawnSync(compiler, [...FLAGS, source, '-o', binary]).status === 0 && spawnSync(binary).status === 0;
  };
  const found = ['clang++-19', 'clang++', 'g++'].find(works);
  rmSync(folder, { recursive: true });
  return found;
}

/** Builds and runs one program; its first race ends it. */
export async function runSanitised(compiler: string, name: 'races' | 'sessions', ...args: string[]): Promise<Ended> {
  const binary = await build(programs(compiler)[name]);
  return runProgram([binary, ...args], { TSAN_OPTIONS: 'halt_on_error=1 second_deadlock_stack=1' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const compiler = sanitisingCompiler();
  if (!compiler)
    throw new Error('[tsan] ThreadSanitizer does not run here. Debian: apt-get install clang-19 libclang-rt-19-dev');
  const golden = join(import.meta.dirname, '..', '..', 'golden');
  const runs: ['races' | 'sessions', ...string[]][] = [
    ['races'],
    ['sessions', join(golden, 'qwen3_5', 'dense_gqa_mixed')],
    ['sessions', join(golden, 'lfm2_moe', 'top4')],
    ['sessions', join(golden, 'gguf_models', 'qwen35', 'model-mixed.gguf')],
  ];
  for (const [name, ...args] of runs) {
    const { code, output } = await runSanitised(compiler, name, ...args);
    process.stdout.write(`${name} ${args.join(' ')}\n${output}`);
    if (code !== 0) process.exitCode = 1;
  }
}
