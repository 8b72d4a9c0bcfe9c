import { readFileSync } from 'node:fs';

//  What a process costs, as Linux counts it.

const TICKS_PER_SECOND = 100;

/** Seconds of processor time since its start, with those of its threads. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Memory that would be free without it: its own pages, and its share of those it has in common with others. */
export function memoryBytes(pid: number): number {
  const found = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(found?.[1] ?? 0) * 1024;
}
