// C++ programs beside the addon, for what a sanitizer or another processor has to run. Objects and programs stay in
// build/programs; nothing is compiled again while the sources are the same.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

export interface Program {
  name: string;
  /** The compiler and what every file is compiled with. */
  compiler: readonly string[];
  /** From the root of the tree; further flags of single files by their base name. */
  sources: readonly string[];
  flagsOf?: Readonly<Record<string, readonly string[]>>;
  /** A header that most sources begin with: clang reads it once for all of them. */
  header?: string;
  link?: readonly string[];
}

/** Paths of the C++ files of a folder and of those in it, from the root. */
export const filesOf = (folder: string, ending = '.cc'): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => `${folder}/${file}`);

/** What a program depends on: its flags, and every source and header it could see. */
function stampOf(program: Program): string {
  const hash = createHash('sha256').update(JSON.stringify(program));
  const folders = new Set(program.sources.map((source) => source.slice(0, source.lastIndexOf('/'))));
  for (const folder of [...folders, 'native/ops']) {
    for (const file of [...filesOf(folder), ...filesOf(folder, '.h')])
      hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

const run = (command: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.on('data', (part) => {
      words += part;
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`[${command}] ${args.join(' ')}\n${words}`)),
    );
  });

/** Compiles the common header; what the sources are to be told about it. Files with flags of their own cannot use it. */
async function readHeader(program: Program, folder: string): Promise<string[]> {
  const [compiler = 'c++', ...flags] = program.compiler;
  if (program.header === undefined || !compiler.startsWith('clang')) return [];
  const compiled = join(folder, 'header.pch');
  await run(compiler, [...flags, '-I', 'native', '-x', 'c++-header', program.header, '-o', compiled]);
  return ['-include-pch', compiled];
}

async function compile(program: Program, source: string, object: string, header: readonly string[]): Promise<void> {
  const [compiler = 'c++', ...flags] = program.compiler;
  const own = program.flagsOf?.[basename(source)] ?? header;
  await run(compiler, [...flags, ...own, '-I', 'native', '-c', source, '-o', object]);
}

/** The path of the program, built when its sources have changed.
 *  @throws Error with the compiler's words */
export async function build(program: Program): Promise<string> {
  const folder = join(root, 'build', 'programs', program.name);
  const binary = join(folder, program.name);
  const stampFile = join(folder, 'stamp');
  const stamp = stampOf(program);
  if (existsSync(binary) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return binary;
  mkdirSync(folder, { recursive: true });
  const objects = program.sources.map((source) => join(folder, `${source.replaceAll('/', '-')}.o`));
  const header = await readHeader(program, folder);
  const waiting = program.sources.map((source, i) => [source, objects[i] as string] as const);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await compile(program, ...next, header);
  };
  await Promise.all([worker(), worker()]);
  const [compiler = 'c++', ...flags] = program.compiler;
  await run(compiler, [...flags, ...objects, ...(program.link ?? []), '-o', binary]);
  writeFileSync(stampFile, stamp);
  return binary;
}

export interface Ended {
  code: number | null;
  output: string;
}

/** Runs a program to its end; what it printed on either channel. */
export const runProgram = (command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const [file = '', ...args] = command;
    const child = spawn(file, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (part) => {
      output += part;
    });
    child.stderr.on('data', (part) => {
      output += part;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
