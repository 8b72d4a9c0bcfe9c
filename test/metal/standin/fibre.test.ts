// The stand-in's fibres on every processor they are written for; another one's code runs under qemu.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/models/formats.ts';
import { needsStandin } from '../standin.ts';

needsStandin();

const processors = [
  { arch: 'x64', name: 'x86_64', target: 'x86_64-linux-gnu' },
  { arch: 'arm64', name: 'aarch64', target: 'aarch64-linux-gnu' },
];

const emulator = (name: string): string | undefined =>
  [`qemu-${name}`, `qemu-${name}-static`].find((file) => spawnSync(file, ['--version']).status === 0);

test.for(processors)('a fibre on $name keeps its registers', ({ arch, name, target }, { skip }) => {
  const run = arch === process.arch ? [] : [emulator(name)];
  if (run[0] === undefined && arch !== process.arch) skip(`needs qemu-${name} (apt-get install qemu-user)`);
  const program = join(temporaryFolder({}), 'fibre');
  const flags = ['-std=c++20', '-O2', '-ffreestanding', '-fno-exceptions', '-nostdlib', '-static', '-fuse-ld=lld'];
  const source = join(import.meta.dirname, 'fibre.cc');
  const built = spawnSync('clang++-19', [`--target=${target}`, ...flags, '-o', program, source], { encoding: 'utf8' });
  expect(built.stderr).toBe('');
  const [command = program, ...rest] = [...run.map(String), program];
  expect(spawnSync(command, rest).status).toBe(0);
});
