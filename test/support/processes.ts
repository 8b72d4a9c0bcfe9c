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
export const memoryBytes = (pid: number): number => mapped(pid, 'Pss');

/** What is in no file: heaps, stacks and buffers. Unlike its share of the pages of files, it does not depend on what else runs. */
export const anonymousBytes = (pid: number): number => mapped(pid, 'Anonymous');

function mapped(pid: number, what: 'Pss' | 'Anonymous'): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? 0) * 1024;
}
