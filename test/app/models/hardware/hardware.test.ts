// How much memory a model may take, and when other programs are short of it, as Linux tells.
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { machineFacts, memoryIsShort, memoryLimit } from '../../../../app/models/hardware/hardware.ts';
import { newFolder } from '../../../support/core/core.ts';

const MB = 1024 * 1024;
const GB = 1024 * MB;

/** A machine with this much available, and groups of processes with a limit, what they use, and their file cache. */
function machine(available: number | null, groups: Record<string, [most: string, used: number, cache?: number]> = {}) {
  const files: Record<string, string> = {
    '/proc/meminfo': available === null ? '' : `MemTotal: 1 kB\nMemAvailable:   ${available / 1024} kB\n`,
    '/proc/self/cgroup': '0::/app.slice/longhand\n',
  };
  for (const [group, [most, used, cache = 0]] of Object.entries(groups)) {
    const folder = `/sys/fs/cgroup${group}`;
    files[`${folder}/memory.max`] = `${most}\n`;
    files[`${folder}/memory.current`] = `${used}\n`;
    files[`${folder}/memory.stat`] = `anon 7\ninactive_file ${cache}\nactive_file ${2 * cache}\n`;
  }
  return (path: string) => files[path] ?? '';
}
const own = '/app.slice/longhand';

test.skipIf(process.platform === 'darwin')('what is available, or less where a limit of its group leaves less', () => {
  const limit = (...given: Parameters<typeof machine>) => memoryLimit(null, 0, machine(...given));
  expect(limit(8 * GB)).toBe(8 * GB);
  expect(limit(8 * GB, { [own]: [`${4 * GB}`, GB] })).toBe(3 * GB);
  expect(limit(2 * GB, { [own]: [`${4 * GB}`, GB] })).toBe(2 * GB);
  // Its file cache can be taken back.
  expect(limit(8 * GB, { [own]: [`${4 * GB}`, 3 * GB, GB / 2] })).toBe(2.5 * GB);
  expect(limit(8 * GB, { [own]: [`${GB}`, 2 * GB] })).toBe(0);
  // A group without a limit of its own has that of the whole container.
  expect(limit(8 * GB, { [own]: ['max', GB], '': [`${2 * GB}`, GB] })).toBe(GB);
  expect(limit(8 * GB, { [own]: ['max', GB] })).toBe(8 * GB);
  // The loaded model would make room.
  expect(memoryLimit(null, GB, machine(8 * GB, { [own]: [`${4 * GB}`, GB] }))).toBe(4 * GB);
});

test.skipIf(process.platform === 'darwin')('a card has its own memory, the processor that of the machine', () => {
  const device = (backEnd: string, memoryBytes: number) => ({ backEnd, memoryBytes }) as never;
  const read = machine(8 * GB);
  expect(memoryLimit(device('vulkan', 5 * GB), GB, read)).toBe(5 * GB);
  expect(memoryLimit(device('vulkan', 0), 0, read)).toBe(8 * GB);
  expect(memoryLimit(device('cpu', 5 * GB), 0, read)).toBe(8 * GB);
});

test('memory is short below 256 MB or 3 percent of the machine, of itself or of its group', () => {
  const least = Math.max(256 * MB, totalmem() * 0.03);
  const above = Math.ceil(least / MB + 1) * MB;
  const below = Math.floor(least / MB - 1) * MB;
  expect(memoryIsShort(machine(above))).toBe(false);
  expect(memoryIsShort(machine(below))).toBe(true);
  expect(memoryIsShort(machine(above, { [own]: [`${above}`, 0] }))).toBe(false);
  expect(memoryIsShort(machine(above, { [own]: [`${above}`, 2 * MB] }))).toBe(true);
  expect(memoryIsShort(machine(null, { [own]: [`${below}`, 0] }))).toBe(true);
  // What is not known is not short.
  expect(memoryIsShort(machine(null))).toBe(false);
});

test('the room for models is told before their folder has ever been made', async () => {
  const facts = await machineFacts(join(newFolder(), 'below', 'models'), 5, 7);
  expect(facts).toEqual({ limitBytes: 5, bandwidth: 7, diskFree: expect.any(Number) });
  expect(facts.diskFree).toBeGreaterThan(0);
});
