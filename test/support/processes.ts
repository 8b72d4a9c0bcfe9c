import { readFileSync } from 'node:fs';

//  What a process costs, as counted by Linux.

const TICKS_PER_SECOND = 100;

/** Seconds of processor time since it started, all threads included. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Proportional set size: its own pages, and its share of the pages it has in common with other processes. */
export function memoryBytes(pid: number): number {
  const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(found?.[1] ?? 0) * 1024;
}
