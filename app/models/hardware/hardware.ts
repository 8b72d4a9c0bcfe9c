import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import type { Device, Machine } from '../../protocol/index.ts';
import { freeSpace } from '../downloads/part-file.ts';

/** A Mac counts its file cache as used: without a GPU's own limit this share of the memory is taken as free. */
const MAC_SHARE = 0.75;
/** Less than this is short. */
const SHORT_BYTES = 256 * 1024 * 1024;
const SHORT_SHARE = 0.03;

/** What a model may take now on this device. `inUse`: what the model that would make room holds already. */
export function memoryLimit(device: Device | null, inUse: number, read: ReadText = readText): number {
  if (device && device.backEnd !== 'cpu' && device.memoryBytes > 0) return device.memoryBytes;
  if (process.platform === 'darwin') return totalmem() * MAC_SHARE;
  const available = field(read('/proc/meminfo'), /^MemAvailable:\s+(\d+) kB/m, 1024) ?? freemem();
  return Math.min(available, cgroupFree(read) ?? Number.POSITIVE_INFINITY) + inUse;
}

/** Whether other programs are about to have no memory left. Linux tells; on a Mac the system compresses by itself. */
export function memoryIsShort(read: ReadText = readText): boolean {
  const available = field(read('/proc/meminfo'), /^MemAvailable:\s+(\d+) kB/m, 1024);
  const free = Math.min(available ?? Number.POSITIVE_INFINITY, cgroupFree(read) ?? Number.POSITIVE_INFINITY);
  return free < Math.max(SHORT_BYTES, totalmem() * SHORT_SHARE);
}

type ReadText = (path: string) => string;

/** What the group of this process (a container) leaves: its file cache can be taken back. Null without a limit. */
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

/** All that the forecast needs. The bandwidth is what this machine was measured at, not a figure from a table. */
export async function machineFacts(folder: string, limitBytes: number, bandwidth: number | null): Promise<Machine> {
  await mkdir(folder, { recursive: true });
  return { limitBytes, bandwidth, diskFree: await freeSpace(folder) };
}
