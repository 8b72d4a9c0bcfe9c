// How many threads are started by themselves: on machines and in containers as the kernel describes them, and here.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/models/formats.ts';
import { build, runProgram } from './programs.ts';

const program = () =>
  build({
    name: 'cores',
    compiler: ['c++', '-std=c++20', '-O1', '-Wall', '-Wextra', '-Werror'],
    sources: ['test/native/cpu/cpu_topology.cc', 'native/cpu/threads/cpu_topology.cc'],
  });

async function counted(before: readonly string[], ...args: string[]): Promise<number> {
  const { code, output } = await runProgram([...before, await program(), ...args]);
  expect(code, output).toBe(0);
  return Number(output);
}

/** The cores counted for these processors where the kernel tells this. */
function coresWith(files: Readonly<Record<string, string>>, allowed = '0,1,2,3,4,5,6,7'): Promise<number> {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return counted([], folder, allowed);
}

const v2 = (group: string) => ({ '/proc/self/cgroup': `0::${group}\n` });
const v1 = (group: string) => ({ '/proc/self/cgroup': `4:memory:/else\n3:cpu,cpuacct:${group}\n1:name=systemd:/\n` });
const top = '/sys/fs/cgroup';

test.each<[string, Record<string, string>, number]>([
  ['nothing told', {}, 8],
  ['no quota', { ...v2('/'), [`${top}/cpu.max`]: 'max 100000\n' }, 8],
  ['two cores and a half', { ...v2('/'), [`${top}/cpu.max`]: '250000 100000\n' }, 3],
  ['a tenth of a core', { ...v2('/'), [`${top}/cpu.max`]: '10000 100000\n' }, 1],
  ['a service of its own', { ...v2('/a.slice/b.service'), [`${top}/a.slice/b.service/cpu.max`]: '200000 100000\n' }, 2],
  [
    'a quota of the group around it',
    {
      ...v2('/a.slice/b.service'),
      [`${top}/a.slice/cpu.max`]: '300000 100000\n',
      [`${top}/a.slice/b.service/cpu.max`]: 'max 100000\n',
    },
    3,
  ],
  ['a container that knows its name outside', { ...v2('/host/box'), [`${top}/cpu.max`]: '200000 100000\n' }, 2],
  [
    'version 1',
    {
      ...v1('/box'),
      [`${top}/cpu/box/cpu.cfs_quota_us`]: '150000\n',
      [`${top}/cpu/box/cpu.cfs_period_us`]: '50000\n',
    },
    3,
  ],
  [
    'version 1 without a quota',
    { ...v1('/'), [`${top}/cpu/cpu.cfs_quota_us`]: '-1\n', [`${top}/cpu/cpu.cfs_period_us`]: '100000\n' },
    8,
  ],
  ['what is no number', { ...v2('/'), [`${top}/cpu.max`]: 'lots\n' }, 8],
])('CPU quota: %s', async (_, files, cores) => {
  expect(await coresWith(files)).toBe(cores);
});

const processor = (cpu: number, file: string) => `/sys/devices/system/cpu/cpu${cpu}/${file}`;
const paired = Object.fromEntries(
  Array.from({ length: 8 }, (_, i) => [
    processor(i, 'topology/thread_siblings_list'),
    `${i - (i % 2)}-${i - (i % 2) + 1}\n`,
  ]),
);

test('two threads of a core count once', async () => {
  expect(await coresWith(paired)).toBe(4);
  expect(await coresWith(paired, '0,1,2')).toBe(2);
});

test('small cores do not count, unless there are no others', async () => {
  const hybrid = { ...paired, '/sys/devices/cpu_core/cpus': '0-1,2-3\n', '/sys/devices/cpu_atom/cpus': '4-7\n' };
  expect(await coresWith(hybrid)).toBe(2);
  expect(await coresWith(hybrid, '4,5,6,7')).toBe(2);
  const capacities = [1024, 820, 820, 820, 300, 300, 300, 300];
  const phone = Object.fromEntries(capacities.map((size, i) => [processor(i, 'cpu_capacity'), `${size}\n`]));
  expect(await coresWith(phone)).toBe(4);
  expect(await coresWith(phone, '5,6,7')).toBe(3);
});

test.runIf(process.platform === 'linux')('an affinity mask of one processor is one core', async () => {
  const mask = /^Cpus_allowed_list:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'));
  expect(await counted(['taskset', '-c', mask?.[1] ?? '0'])).toBe(1);
});
