// npm run test:fuzz: builds and runs the libFuzzer targets of this folder with clang, ASan and UBSan, and the properties of
// the JavaScript inputs (tokenizer.json, templates) with fast-check.
//   npm run test:fuzz -- [SECONDS] [TARGET ...]      60 seconds each, all targets
//   npm run test:fuzz -- --keep [TARGET ...]         minimise what was found into test/fuzz/corpus
// New inputs collect in build/fuzz/corpus, crashes in build/fuzz/crashes. A crash ends with exit code 1: put the file into
// test/fuzz/corpus/TARGET, mend the reader, and `npm test` replays it for ever.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const root = join(here, '..', '..');
const work = join(root, 'build', 'fuzz');
const containers = join(root, 'test', 'golden', 'containers');
/** Well-formed and malformed files that are there anyway. */
const seeds = {
  json: [],
  safetensors: ['malformed_safetensors', 'unusual_safetensors', 'malformed_mlx'],
  gguf: ['malformed_gguf', 'valid_gguf'],
  config: [],
  describe: [],
};
/** Tests of test/app/text/hostile.test.ts that take any input; fast-check shrinks what fails and prints it. */
const properties = {
  tokenizer: 'any value in any place',
  template: 'any text as a template',
  text: 'text goes there and back',
};
const dictionary = join(here, 'words.dict');
const largestKept = 4096;

function clang() {
  const found = [process.env.CXX, 'clang++-19', 'clang++'].find(
    (name) => name && spawnSync(name, ['--version']).status === 0,
  );
  if (found) return found;
  return fail(
    'clang++ with libFuzzer is needed. Debian: apt-get install clang-19 libclang-rt-19-dev. macOS: brew install llvm, CXX=$(brew --prefix llvm)/bin/clang++',
  );
}

function fail(message) {
  console.error(`[fuzz] ${message}`);
  process.exit(1);
}

function run([command, ...args]) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', cwd: root });
  return status === 0;
}

const flags = ['-std=c++20', '-g', '-O1', '-fsanitize=fuzzer-no-link,address,undefined', '-fno-sanitize-recover=all'];

/** The readers and the verdict on what they read, built once for all targets. */
function buildSources() {
  const objects = join(work, 'objects');
  mkdirSync(objects, { recursive: true });
  const native = join(root, 'native');
  const compiler = spawnSync('ccache', ['--version']).status === 0 ? ['ccache', clang()] : [clang()];
  const built = [];
  for (const folder of ['formats', 'architectures']) {
    for (const name of readdirSync(join(native, folder), { recursive: true }).filter((file) => file.endsWith('.cc'))) {
      const object = join(objects, `${folder}-${name.replaceAll('/', '-')}.o`);
      if (!run([...compiler, ...flags, '-I', native, '-c', join(native, folder, name), '-o', object])) {
        fail(`native/${folder}/${name} does not build`);
      }
      built.push(object);
    }
  }
  return built;
}

function build(target, objects) {
  const binary = join(work, target);
  const includes = ['-I', join(root, 'native'), '-I', here];
  const link = ['-fsanitize=fuzzer,address,undefined', join(here, `${target}.cc`), ...objects, '-o', binary];
  if (!run([clang(), ...flags, ...includes, ...link])) fail(`${target} does not build`);
  return binary;
}

const folders = (target) => {
  const found = join(work, 'corpus', target);
  const kept = join(here, 'corpus', target);
  for (const folder of [found, kept, join(work, 'crashes')]) mkdirSync(folder, { recursive: true });
  return { found, kept, golden: seeds[target].map((name) => join(containers, name)) };
};

function fuzz(target, seconds, objects) {
  const { found, kept, golden } = folders(target);
  const limits = [
    `-max_total_time=${seconds}`,
    '-timeout=10',
    '-rss_limit_mb=2048',
    '-max_len=65536',
    '-verbosity=0',
    '-print_funcs=0',
    '-print_final_stats=1',
  ];
  const crashes = `-artifact_prefix=${join(work, 'crashes', `${target}-`)}`;
  return run([build(target, objects), ...limits, `-dict=${dictionary}`, crashes, found, kept, ...golden]);
}

function checkProperty(target, seconds) {
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', 'test/vitest.config.ts', 'app/text/hostile.test.ts', '-t', properties[target]],
    { stdio: 'inherit', cwd: root, env: { ...process.env, LONGHAND_FUZZ_SECONDS: String(seconds) } },
  );
  return status === 0;
}

/** Small inputs that together reach all code that was reached. */
function keep(target) {
  const { found, kept } = folders(target);
  const sound = run([
    join(work, target),
    '-set_cover_merge=1',
    '-use_counters=0',
    `-max_len=${largestKept}`,
    '-verbosity=0',
    kept,
    found,
  ]);
  const bytes = readdirSync(kept).reduce((sum, name) => sum + statSync(join(kept, name)).size, 0);
  console.log(`[fuzz] ${target}: ${readdirSync(kept).length} inputs, ${bytes} bytes`);
  return sound;
}

const words = process.argv.slice(2);
const keeping = words.includes('--keep');
const seconds = Number(words.find((word) => /^\d+$/.test(word)) ?? 60);
const named = words.filter((word) => !/^(--keep|\d+)$/.test(word));
const known = keeping ? Object.keys(seeds) : [...Object.keys(seeds), ...Object.keys(properties)];
const unknown = named.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`[fuzz] unknown target ${unknown.join(', ')}; allowed: ${known.join(', ')}`);
  process.exit(2);
}
const targets = named.length > 0 ? named : known;
const objects = keeping || targets.every((target) => target in properties) ? [] : buildSources();
const runOne = (target) => (target in properties ? checkProperty(target, seconds) : fuzz(target, seconds, objects));
const failed = targets.filter((target) => !(keeping ? keep(target) : runOne(target)));
console.log(
  failed.length === 0 ? `[fuzz] ${targets.join(', ')}: nothing found` : `[fuzz] failed: ${failed.join(', ')}`,
);
process.exit(failed.length === 0 ? 0 : 1);
