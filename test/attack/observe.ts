import { readFileSync } from 'node:fs';

export type Observed = { grown: number; stall: number; reader: number };

/** Observes this process, which runs the core, and its largest child until the returned function is called. */
export function observe(): () => Observed {
  const before = process.memoryUsage.rss();
  let [grown, stall, reader] = [0, 0, 0];
  let last = process.threadCpuUsage();
  const look = () => {
    // Processor time between two turns of the loop, so that load of other programs does not count.
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    stall = Math.max(stall, (user + system) / 1000);
    grown = Math.max(grown, process.memoryUsage.rss() - before);
    reader = Math.max(reader, largestChild());
  };
  const timer = setInterval(look, 5);
  return () => {
    clearInterval(timer);
    look();
    return { grown, stall, reader };
  };
}

/** Resident bytes of the largest child process; 0 if unknown. */
function largestChild(): number {
  try {
    const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
    const sizes = children.map((pid) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    return Math.max(...sizes.map((size) => Number(size ?? 0) * 1024));
  } catch {
    return 0;
  }
}
