// How long a large library takes to list, the first time and the next: node test/bench/library.ts [MODELS]
// In milliseconds and, since this machine may be busy, in milliseconds of processor time. Each first listing is in a process of its
// own, on a database that another process has written.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createAvailability } from '../../app/models/storage/availability.ts';
import { disk } from '../../app/models/storage/fs-probe.ts';
import { openDatabase } from '../../app/store/database/database.ts';
import { aLibrary, anywhere, fillLibrary } from '../support/models/many-models.ts';

const FOLDERS = 100;
const RUNS = 7;
const REST_MS = 500;
const [given = '10000', folder] = process.argv.slice(2);
const count = Number(given);

type Cost = { ms: number; processor: number };

/** Of the first listing and of the second. */
async function measure(data: string): Promise<Cost[]> {
  const db = openDatabase(join(data, 'longhand.db'));
  const library = aLibrary(db, createAvailability(anywhere, disk));
  const costs: Cost[] = [];
  // Node is still compiling its type stripper, on threads of its own.
  await setTimeout(REST_MS);
  for (let run = 0; run < 2; run++) {
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    const list = await library.list();
    const { user, system } = process.cpuUsage(cpu);
    costs.push({ ms: performance.now() - began, processor: (user + system) / 1000 });
    if (list.length !== count + 1) throw new Error(`${list.length} of ${count + 1} models are in the list`);
  }
  db.close();
  return costs;
}

function report(): void {
  const data = mkdtempSync(join(tmpdir(), 'longhand-library-'));
  for (let shelf = 0; shelf < FOLDERS; shelf++) mkdirSync(join(data, `shelf-${shelf}`));
  const at = (file: number) => join(data, `shelf-${file % FOLDERS}`, `model-${file}.gguf`);
  for (let file = 0; file < count; file++) writeFileSync(at(file), '');
  fillLibrary(data, count, at);
  const runs = Array.from({ length: RUNS }, (): Cost[] =>
    JSON.parse(execFileSync(process.execPath, [import.meta.filename, given, data], { encoding: 'utf8' })),
  );
  rmSync(data, { recursive: true });
  for (const [at, name] of ['first', 'next'].entries()) {
    const [least = 0, median = 0] = [0, RUNS >> 1].map((rank) => costOf(runs, at, 'ms')[rank]);
    const processor = costOf(runs, at, 'processor');
    console.log(
      `${count} models, ${name} list: ${least.toFixed(0)} ms, median ${median.toFixed(0)}; ` +
        `processor ${processor[0]?.toFixed(0)} ms, median ${processor[RUNS >> 1]?.toFixed(0)}`,
    );
  }
}

const costOf = (runs: Cost[][], at: number, what: keyof Cost): number[] =>
  runs.map((run) => run[at]?.[what] ?? 0).sort((a, b) => a - b);

if (folder) console.log(JSON.stringify(await measure(folder)));
else report();
