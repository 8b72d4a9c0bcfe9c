import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CLASSES, type ClassName } from './classes.ts';

export type Counts = { tried: number; refused: number };

const folder = join(import.meta.dirname, '..', '..', '.cache', 'attacks');

/** Stores the counts of a test file for the table, and prints them. `file`: its name, and what of it where it counts more
 *  than once; the next run replaces its counts. */
export function keepCounts(name: ClassName, file: string, { tried, refused }: Counts): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name} ${file.replaceAll(/[\\/]/g, '-')}.json`), JSON.stringify({ tried, refused }));
  process.stdout.write(`attacks, ${CLASSES[name].title}: ${tried} tried, ${refused} refused\n`);
}

/** The sums of a class over all files. */
export function countsOf(name: ClassName): Counts {
  let files: string[];
  try {
    files = readdirSync(folder).filter((file) => file.startsWith(`${name} `));
  } catch {
    files = [];
  }
  const counts = files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Counts);
  const sum = (key: keyof Counts) => counts.reduce((total, one) => total + one[key], 0);
  return { tried: sum('tried'), refused: sum('refused') };
}

/** The files that count attacks of a class. */
export const countingFiles = (name: ClassName): string[] =>
  CLASSES[name].files.filter((file) => {
    if (!/\.(test|spec)\.ts$/.test(file)) return false;
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
    return text.includes(`tallyOf('${name}')`) || text.includes(`keepCounts('${name}'`);
  });

/** Files without counts. */
export function uncounted(): string[] {
  const counted = existsSync(folder) ? readdirSync(folder) : [];
  return (Object.keys(CLASSES) as ClassName[]).flatMap((name) =>
    countingFiles(name).filter((file) => !counted.some((one) => one.startsWith(`${name} ${basename(file)}`))),
  );
}
