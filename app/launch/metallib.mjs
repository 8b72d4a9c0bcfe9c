// npm run package: if Apple's Metal compiler is installed, kernels are shipped compiled, one library per file of metal/
// and per layout of template files. The app falls back to the source, which is always included.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { run } from './run.mjs';
import { sayDone, sayStep } from './say.mjs';

const root = join(import.meta.dirname, '..', '..');

// What native/metal/weight.mm and native/metal/cache.h compile templates for.
export const LAYOUTS = {
  weights: [
    ...[
      'F32',
      'F16',
      'BF16',
      'Q4_0',
      'Q4_1',
      'Q5_0',
      'Q5_1',
      'Q8_0',
      'Q2K',
      'Q3K',
      'Q4K',
      'Q5K',
      'Q6K',
      'Iq4Nl',
      'Iq4Xs',
    ],
    ...['GgufMxfp4', 'Mxfp4', 'Mxfp8', 'Nvfp4', 'Affine2', 'Affine3', 'Affine4', 'Affine5', 'Affine6', 'Affine8'],
  ],
  caches: ['CacheF32', 'CacheF16', 'CacheQ8', 'CacheQ4'],
};

/** `['']` for a file that is not a template. */
function layoutsOf(text) {
  if (!text.includes('#define INSTANTIATE')) return [''];
  return text.includes('struct CacheF32') ? LAYOUTS.caches : LAYOUTS.weights;
}

/** Why nothing can be compiled here, or null. */
function missing() {
  // Xcode 26 has a stub `metal` that only tells where to get the real one: so run it.
  const { status } = spawnSync('xcrun', ['-sdk', 'macosx', 'metal', '--version'], { encoding: 'utf8' });
  if (status === 0) return null;
  return 'no .metallib: xcrun found no Metal compiler (Xcode installs it: xcodebuild -downloadComponent MetalToolchain); the app compiles its kernels at the first start';
}

/** Tensor operations need a newer language and system than the app does. */
export const hasTensors = (source) => readFileSync(source, 'utf8').includes('#include <metal_tensor>');

// As native/metal/pipelines/pipelines.mm has the text compiled: MSL 3.1 (tensors: 4.0), no fast math.
const wordsFor = (source, layout, to) => [
  ...['-sdk', 'macosx', 'metal'],
  ...(hasTensors(source)
    ? ['-std=metal4.0', '-mmacosx-version-min=26.2']
    : ['-std=metal3.1', '-mmacosx-version-min=14.0']),
  ...['-fno-fast-math', '-O2'],
  ...(layout === '' ? [] : [`-DLAYOUT=${layout}`]),
  ...['-o', to, source],
];

/** Compiles one source for one layout. @returns warnings of the compiler, @throws its errors. */
export async function compileOne(sources, out, { name, layout }) {
  const library = layout === '' ? name : `${name}-${layout}`;
  const to = join(out, `${library}.metallib`);
  const words = wordsFor(join(sources, `${name}.metal`), layout, to);
  const { stderr } = await promisify(execFile)('xcrun', words).catch((error) => {
    throw new Error(`[metal] ${library} does not compile:\n${error.stderr || error.message}`);
  });
  return { library, to, said: stderr };
}

async function compile(sources, out, wanted) {
  const { library, to } = await compileOne(sources, out, wanted);
  const bytes = readFileSync(to);
  return `${library} ${bytes.length} ${crc32(bytes)}`;
}

/** Runs `work` for each of `all`, as many at a time as there are processors. The first error ends it. */
export async function inParallel(all, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < all.length) {
      const at = next++;
      results[at] = await work(all[at]);
    }
  };
  // A failure stops the rest before it is reported, so that nothing is written afterwards.
  const stopping = () => worker().finally(() => (next = all.length));
  const ended = await Promise.allSettled(Array.from({ length: availableParallelism() }, stopping));
  for (const { status, reason } of ended) if (status === 'rejected') throw reason;
  return results;
}

/** Writes every source of metal/ with its headers inlined, and the hash of all, into `sources`.
 *  @returns each with each layout that it is compiled for. */
export async function writeTexts(sources) {
  const texts = [
    `-DMETAL=${join(root, 'metal')}`,
    `-DPARAMS=${join(root, 'native/ops/params.h')}`,
    `-DTEXTS=${sources}`,
  ];
  await run('cmake', [...texts, '-P', join(root, 'native/metal/embed.cmake')], { cwd: root });
  const files = readdirSync(sources).filter((file) => file.endsWith('.metal'));
  return files.flatMap((file) =>
    layoutsOf(readFileSync(join(sources, file), 'utf8')).map((layout) => ({ name: file.slice(0, -6), layout })),
  );
}

async function compileAll(out) {
  const sources = mkdtempSync(join(tmpdir(), 'longhand-metal-'));
  try {
    // Where tensors are not known, all others must still be packaged; where they are, the system compiles them.
    const wanted = (await writeTexts(sources)).filter(({ name }) => !hasTensors(join(sources, `${name}.metal`)));
    const lines = await inParallel(wanted, (each) => compile(sources, out, each));
    // Written last: a folder without it is incomplete.
    writeFileSync(
      join(out, 'manifest'),
      `kernels ${readFileSync(join(sources, 'hash'), 'utf8')}\n${lines.join('\n')}\n`,
    );
    return lines.length;
  } finally {
    rmSync(sources, { recursive: true, force: true });
  }
}

/** Fills `out` with libraries and their manifest, or leaves it empty if there is no compiler.
 *  @throws compiler errors; then the folder does not exist. */
export async function compileKernels(out) {
  // Outdated libraries must not be packaged; electron-builder requires the folder to exist.
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const reason = missing();
  if (reason !== null) return sayStep(reason);
  try {
    sayDone(`${await compileAll(out)} Metal libraries in ${out}`);
  } catch (error) {
    rmSync(out, { recursive: true, force: true });
    throw error;
  }
}
