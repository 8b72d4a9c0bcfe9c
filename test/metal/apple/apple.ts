// The native code as a Mac compiles it, on Linux: CMake makes the commands for Darwin, clang checks the files against
// Apple's interfaces (test/metal/apple). Nothing is linked or run.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../support/addon.ts';

const apple = import.meta.dirname;

export interface Command {
  file: string;
  folder: string;
  words: string[];
}
/** A text that stands once in a file of the repository, and what it becomes. */
export interface Change {
  file: string;
  from: string | RegExp;
  to: string;
}

const clang = () => execFileSync('which', ['clang++-19'], { encoding: 'utf8' }).trim();

/** Where the C++ library of this machine has its headers: glibc and libstdc++ stand in for Darwin's. */
function systemIncludes(): string[] {
  const { stderr } = spawnSync('c++', ['-E', '-x', 'c++', '-', '-v'], { input: '', encoding: 'utf8' });
  const list = /search starts here:\n([\s\S]*?)End of search list/.exec(stderr)?.[1] ?? '';
  const folders = list.split('\n').map((line) => line.trim());
  return folders.filter((folder) => folder.startsWith('/') && !/\/lib\/gcc|\/local\//.test(folder));
}

/** What clang needs to compile for a Mac here: the target, Apple's interfaces first, then this machine's library. */
export function forApple(): string[] {
  const includes = [join(apple, 'include'), ...systemIncludes()].flatMap((folder) => ['-isystem', folder]);
  // clang takes these for Apple's nullability words; glibc has macros of that name.
  const words = ['-U__nonnull', '-U__nullable', '-U__null_unspecified', '-D_GNU_SOURCE'];
  return ['--target=arm64-apple-macos14.0', '-nostdlibinc', ...words, ...includes];
}

export function changed(text: string, { file, from, to }: Change): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`[apple] ${from} stands ${parts.length - 1} times in ${file}`);
  return parts.join(to);
}

const read = (file: string) => readFileSync(join(repository, file), 'utf8');

/** The commands of a build on a Mac. `change`: of native/CMakeLists.txt. */
export function configure(folder: string, change?: Change): Command[] {
  const source = mkdtempSync(join(folder, 'source-'));
  for (const name of readdirSync(repository))
    if (name !== 'native' && name !== 'build') symlinkSync(join(repository, name), join(source, name));
  mkdirSync(join(source, 'native'));
  for (const name of readdirSync(join(repository, 'native')))
    if (name !== 'CMakeLists.txt') symlinkSync(join(repository, 'native', name), join(source, 'native', name));
  const lists = read('native/CMakeLists.txt');
  writeFileSync(join(source, 'native/CMakeLists.txt'), change ? changed(lists, change) : lists);
  const build = join(source, 'build');
  const { CI: _, ...env } = process.env;
  execFileSync(
    'cmake',
    [
      ...['-S', join(source, 'native'), '-B', build, `-DAPPLE_CLANG=${clang()}`],
      `-DCMAKE_TOOLCHAIN_FILE=${join(apple, 'toolchain.cmake')}`,
      `-DCMAKE_JS_INC=${join(repository, 'node_modules/node-api-headers/include')}`,
    ],
    { env: { ...env, CI: '1' }, stdio: 'pipe' },
  );
  interface Entry {
    file: string;
    directory: string;
    command: string;
  }
  const entries = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8')) as Entry[];
  return entries
    .filter(({ file }) => !/(metal_kernels|packing_build|engine_build)\.cc$/.test(file)) // made by the build itself
    .map(({ file, directory, command }) => ({
      file,
      folder: directory,
      words: (command.match(/(?:\\.|"(?:\\.|[^"])*"|[^\s"])+/g) ?? []).map((word) =>
        word.replace(/\\(.)/g, '$1').replace(/^"(.*)"$/, '$1'),
      ),
    }));
}

const SYSTEM =
  'Foundation/Foundation.h Metal/Metal.h algorithm array atomic chrono filesystem fstream functional map memory mutex optional set span sstream string thread vector';
const parsed = new Map<string, Promise<string>>();

/** The system's headers as files with these flags see them, parsed once for all of them: half the time of a file of the host.
 *  What such a file forgets to include, the build on Linux says. */
function systemHeaders(compiler: string, flags: string[], folder: string): Promise<string> {
  const key = [folder, ...flags].join(' ');
  const make = async () => {
    const place = mkdtempSync(join(folder, 'system-'));
    const [header, to] = [join(place, 'system.h'), join(place, 'system.pch')];
    writeFileSync(header, SYSTEM.replace(/\S+/g, '#include <$&>\n'));
    await promisify(execFile)(compiler, [...forApple(), ...flags, '-x', 'objective-c++-header', header, '-o', to]);
    return to;
  };
  const made = parsed.get(key) ?? make();
  parsed.set(key, made);
  return made;
}

/** What clang says of one file; '' when it accepts it. `change`: of that file. */
export async function check(command: Command, change?: Change): Promise<string> {
  const { file, folder, words } = command;
  const [compiler = '', ...flags] = words;
  const kept = flags.filter((word, i) => word !== '-o' && flags[i - 1] !== '-o' && word !== '-c' && word !== file);
  const host = /\/metal\/.*\.mm$/.test(file);
  const before = host ? ['-include-pch', await systemHeaders(compiler, kept, folder)] : [];
  let text = file;
  if (change) {
    text = join(mkdtempSync(join(folder, 'changed-')), basename(file));
    writeFileSync(text, changed(readFileSync(file, 'utf8'), change));
  }
  // libstdc++ calls its own deprecated functions from templates that only an int64_t of Darwin's kind instantiates.
  const all = [...forApple(), ...kept, ...before, '-Wno-error=deprecated-declarations', '-fsyntax-only', text];
  return promisify(execFile)(compiler, all, { cwd: folder, maxBuffer: 1 << 26 }).then(
    ({ stderr }) => stderr,
    (error) => String(error.stderr || error.message),
  );
}

/** Where the commands and everything made on the way lie. */
export const temporary = (): { folder: string; remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-apple-'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
};

/** Rules that the commands of every file must keep; what breaks one, as a sentence. */
export function brokenFlags({ file, words }: Command): string[] {
  const broken: string[] = [];
  const has = (word: string) => words.includes(word);
  const needs = (word: string) => {
    if (!has(word)) broken.push(`${word} is missing`);
  };
  if (words.some((word) => word.startsWith('-DNDEBUG'))) broken.push('NDEBUG takes the asserts out');
  if (words.some((word) => /^-(Ofast|ffast-math)$/.test(word))) broken.push('fast mathematics');
  for (const word of ['-mmacosx-version-min=14.0', '-std=c++20', '-fvisibility=hidden', '-Werror', '-ffp-contract=off'])
    needs(word);
  if (/\.mm$/.test(file)) for (const word of ['-fobjc-arc', '-Werror=unguarded-availability', '-O2']) needs(word);
  return broken;
}
