// Kernels compiled when the app is packaged: the script with a compiler of its own (here what it writes is the stand-in's kind of
// library), and the host, which takes them where they are those of its own text and whole, and else compiles that text.
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { LAYOUTS } from '../../../app/launch/metallib.mjs';
import { repository } from '../../support/addon.ts';
import { readCase } from '../../support/models/golden.ts';
import { loadOnMetal, needsStandin, standin } from '../standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 }); // kernels may have to be compiled by clang first

const folder = mkdtempSync(join(tmpdir(), 'longhand-metallib-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder with an `xcrun` in it that finds the compiler, and then does this. */
function xcrun(name: string, script: string): string {
  const path = mkdtempSync(join(folder, name));
  writeFileSync(join(path, 'xcrun'), `#!/bin/sh\n[ "$4" = --version ] && exit 0\n${script}`);
  chmodSync(join(path, 'xcrun'), 0o755);
  return path;
}
const writesLibraries = `
for flag in -std=metal3.1 -fno-fast-math; do
  case " $* " in *" $flag "*) ;; *) echo "$flag is missing" >&2; exit 1 ;; esac
done
macro=
while [ $# -gt 1 ]; do
  case $1 in -D*) macro="\${1#-D}" ;; -o) to=$2; shift ;; esac
  shift
done
{ echo 'stand-in metallib 1'; [ -n "$macro" ] && echo "$macro"; echo; cat "$1"; } > "$to"
`;

/** The script with this folder before all others that have programs: what it said, and how it ended. */
function pack(out: string, path: string): { code: number | null; said: string } {
  const module = pathToFileURL(join(repository, 'app/launch/metallib.mjs')).href;
  const program = `const { compileKernels } = await import('${module}'); await compileKernels(${JSON.stringify(out)});`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { ...process.env, PATH: [path, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter) },
  });
  return { code: status, said: stderr };
}

describe('npm run package', () => {
  test('without the compiler says so, leaves nothing of an earlier time, and goes on', () => {
    const out = mkdtempSync(join(folder, 'out-'));
    writeFileSync(join(out, 'old.metallib'), '');
    expect(pack(out, folder)).toMatchObject({ code: 0, said: expect.stringContaining('no .metallib: xcrun found no') });
    expect(readdirSync(out)).toEqual([]);
  });

  test('a metal that only says where the real one is to be had is no compiler', () => {
    const out = mkdtempSync(join(folder, 'out-'));
    const path = mkdtempSync(join(folder, 'stub-'));
    writeFileSync(
      join(path, 'xcrun'),
      '#!/bin/sh\n[ "$3" = --find ] && exit 0\necho "error: cannot execute tool \'metal\' due to missing Metal Toolchain" >&2\nexit 1\n',
    );
    chmodSync(join(path, 'xcrun'), 0o755);
    expect(pack(out, path)).toMatchObject({ code: 0, said: expect.stringContaining('MetalToolchain') });
    expect(readdirSync(out)).toEqual([]);
  });

  test('a kernel that does not compile ends it with what the compiler said', () => {
    const out = join(folder, 'failed');
    const broken = xcrun(
      'broken-',
      'case "$*" in *-DLAYOUT=Q6K*) echo "line 7: no" >&2; exit 1 ;; esac\n: > "$(echo "$*" | sed "s/.*-o \\([^ ]*\\).*/\\1/")"\n',
    );
    const { code, said } = pack(out, broken);
    expect(code).toBe(1);
    expect(said).toMatch(/\[metal\] \w+-Q6K does not compile:\nline 7: no/);
    expect(() => readdirSync(out)).toThrow('ENOENT');
  });

  test('knows every layout that the host compiles templates for', () => {
    const of = (file: string, pattern: RegExp) =>
      [...readFileSync(join(repository, 'native/metal', file), 'utf8').matchAll(pattern)].map(([, name]) => name);
    expect(LAYOUTS.weights.toSorted()).toEqual(of('weight.mm', /return \{"(\w+)", \d\}/g).toSorted());
    expect(LAYOUTS.caches.toSorted()).toEqual(of('cache.h', /return "(\w+)"/g).toSorted());
  });

  test('takes them into the app, beside the addon', () => {
    const { build } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    expect(build.extraResources).toContainEqual({ from: 'build/metallib', to: 'metallib' });
    const script = readFileSync(join(repository, 'app/launch/package.mjs'), 'utf8');
    expect(script).toMatch(/await compileKernels\(join\(root, 'build', 'metallib'\)\);[\s\S]*electron-builder/);
  });
});

describe('a packaged library', () => {
  const packaged = join(folder, 'packaged');
  const reference = readCase('qwen3_5/dense_tied');
  const prompt = reference.prompts.find(({ greedy }) => greedy !== undefined) ?? { ids: new Int32Array(), greedy: [] };
  const right = prompt.greedy?.slice(0, 3);
  let libraries = '';

  beforeAll(() => {
    expect(pack(packaged, xcrun('good-', writesLibraries))).toMatchObject({ code: 0 });
  });
  beforeEach(() => {
    libraries = mkdtempSync(join(folder, 'libraries-'));
    cpSync(packaged, libraries, { recursive: true });
    process.env.LONGHAND_METAL_LIBRARIES = libraries;
    process.env.LONGHAND_METAL_CACHE = mkdtempSync(join(folder, 'cache-'));
  });
  afterEach(() => {
    delete process.env.LONGHAND_METAL_LIBRARIES;
    standin.faults({});
  });

  test('has no tensors, which need a newer language than the app: the system compiles them where it has it', () => {
    const kernels = new Set(readdirSync(packaged).map((name) => name.split(/[-.]/)[0]));
    const all = readdirSync(join(repository, 'metal')).filter((name) => name.endsWith('.metal'));
    expect(all.map((name) => name.slice(0, -6)).filter((name) => !kernels.has(name))).toEqual(['matmul_tensor']);
  });

  /** The right answer, and how many libraries came from files. */
  async function answered(): Promise<number> {
    standin.reset();
    const model = await loadOnMetal(reference.folder);
    const session = model.createSession({ path: 'exact' });
    const { tokens } = await session.generate(prompt.ids, { maxTokens: 3, path: 'exact' });
    model.close();
    expect(tokens).toEqual(right);
    return standin.counters().librariesRead;
  }
  const change = (name: string, how: (text: string) => string) =>
    writeFileSync(join(libraries, name), how(readFileSync(join(libraries, name), 'utf8')));

  test('is there for every kernel: no text is compiled any more', async () => {
    standin.faults({ compileError: 'kernel' }); // any text
    expect(await answered()).toBeGreaterThan(5);
  });

  test.each<[string, number, () => void]>([
    ['of another text of the kernels', 0, () => change('manifest', (text) => text.replace(/kernels ./, 'kernels x'))],
    ['without a manifest', 0, () => rmSync(join(libraries, 'manifest'))],
    ['with a manifest that is no text', 0, () => writeFileSync(join(libraries, 'manifest'), Buffer.alloc(4096, 0xff))],
    ['with a manifest cut short', 0, () => change('manifest', (text) => text.slice(0, 60))],
    ['that is not there', 1, () => rmSync(join(libraries, 'gated_delta.metallib'))],
    ['cut short', 1, () => change('gated_delta.metallib', (text) => text.slice(0, -1))],
    ['with another byte', 1, () => change('gated_delta.metallib', (text) => text.replace('eps', 'epz'))],
    [
      'that is a folder',
      1,
      () => {
        rmSync(join(libraries, 'gated_delta.metallib'));
        mkdirSync(join(libraries, 'gated_delta.metallib'));
      },
    ],
  ])('%s is compiled from its text instead', async (_title, lost, spoil) => {
    const all = await answered();
    process.env.LONGHAND_METAL_CACHE = mkdtempSync(join(folder, 'cache-'));
    spoil();
    expect(await answered()).toBe(lost === 0 ? 0 : all - lost);
  });

  test('that the device does not take is compiled from its text', async () => {
    const name = 'gated_delta.metallib';
    const all = await answered();
    process.env.LONGHAND_METAL_CACHE = mkdtempSync(join(folder, 'cache-'));
    const bytes = Buffer.from('MTLB of another GPU');
    writeFileSync(join(libraries, name), bytes);
    change('manifest', (text) => text.replace(/^gated_delta .*$/m, `gated_delta ${bytes.length} ${crc32(bytes)}`));
    expect(await answered()).toBe(all - 1);
  });

  test('is looked for beside the addon', async () => {
    const app = mkdtempSync(join(folder, 'app-'));
    copyFileSync(join(repository, 'build/native/Release/longhand-metal.node'), join(app, 'longhand.node'));
    cpSync(packaged, join(app, 'metallib'), { recursive: true });
    const program = `
      const addon = require(${JSON.stringify(join(app, 'longhand.node'))});
      addon.load(${JSON.stringify(reference.folder)}, { device: 'metal', standin: true }).then(async (model) => {
        await model.createSession({ path: 'exact' }).logits(Int32Array.of(1, 2, 3));
        console.log(addon.standin.counters().librariesRead);
        model.close();
      });`;
    const { LONGHAND_METAL_LIBRARIES: _, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { env });
    expect(Number(stdout)).toBeGreaterThan(3);
  });
});
