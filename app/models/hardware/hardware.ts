import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import type { Device, Machine } from '../../protocol/index.ts';
import { freeSpace } from '../downloads/part-file.ts';

/** macOS counts its file cache as used: without a GPU limit, this share of memory is taken as available. */
const MAC_SHARE = 0.75;
/** Free memory below this counts as short. */
const SHORT_BYTES = 256 * 1024 * 1024;
const SHORT_SHARE = 0.03;

/** Memory available to a model on this device. `inUse`: memory of the loaded model, which would be unloaded. */
export function memoryLimit(device: Device | null, inUse: number, read: ReadText = readText): number {
  if (device && device.backEnd !== 'cpu' && device.memoryBytes > 0) return device.memoryBytes;
  if (process.platform === 'darwin') return totalmem() * MAC_SHARE;
  const available = field(read('/proc/meminfo'), /^MemAvailable:\s+(\d+) kB/m, 1024) ?? freemem();
  return Math.min(available, cgroupFree(read) ?? Number.POSITIVE_INFINITY) + inUse;
}

/** Whether the system is about to run out of memory. Linux only; macOS compresses memory itself. */
export function memoryIsShort(read: ReadText = readText): boolean {
  const available = field(read('/proc/meminfo'), /^MemAvailable:\s+(\d+) kB/m, 1024);
  const free = Math.min(available ?? Number.POSITIVE_INFINITY, cgroupFree(read) ?? Number.POSITIVE_INFINITY);
  return free < Math.max(SHORT_BYTES, totalmem() * SHORT_SHARE);
}

type ReadText = (path: string) => string;

/** Free memory within the cgroup of this process; its file cache is reclaimable. Null without a limit. */
function cgroupFree(read: ReadText): number | null {
  const folder = `/sys/fs/cgroup${/^0::(.*)$/m.exec(read('/proc/self/cgroup'))?.[1] ?? ''}`.replace(/\/$/, '');
  for (const place of [folder, '/sys/fs/cgroup']) {
    const most = field(read(`${place}/memory.max`), /^(\d+)/);
    const used = field(read(`${place}/memory.current`), /^(\d+)/);
    if (most === null || used === null) continue;
    const stat = read(`${place}/memory.stat`);
    const cache = (field(stat, /^inactive_file (\d+)/m) ?? 0) + (field(stat, /^active_file (\d+)/m) ?? 0);
    return Math.max(0, most - used + cache);
  }
  return null;
}

function field(text: string, pattern: RegExp, unit = 1): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found) * unit;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not on this system
  }
}

/** Everything the forecast needs. The bandwidth is measured on this machine, not taken from a table. */
export async function machineFacts(folder: string, limitBytes: number, bandwidth: number | null): Promise<Machine> {
  await mkdir(folder, { recursive: true });
  return { limitBytes, bandwidth, diskFree: await freeSpace(folder) };
}
