import { fork } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { download } from '../../../app/models/download/download.ts';
import { journalIn } from '../../../app/models/download/journal.ts';
import { hubSource } from '../../../app/models/source-hub.ts';
import { openDatabase } from '../../../app/store/database.ts';
import { migrate, readMigrations } from '../../../app/store/migrate.ts';
import { newFolder, places, root } from '../../support/core.ts';

//  What a fast link costs: a hub in another process, the download alone in this one.

const MEBIBYTES = 192;
/** 1 Gbit/s. */
const LINK = 125e6;
const MOST_RUNS = 8;

test('a link of 1 Gbit/s takes less than one processor, hashes and disk included', async () => {
  const child = fork(join(root, 'test/support/hub-process.ts'), [String(MEBIBYTES), ''], { execArgv: [] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { url } = await new Promise<{ url: string }>((ready) => child.once('message', (told) => ready(told as never)));
  const folder = newFolder();
  const db = openDatabase(join(folder, 'longhand.db'));
  onTestFinished(() => db.close());
  migrate(db, readMigrations(places.migrations));
  const { signal } = new AbortController();
  const repository = await hubSource({ id: 'mirror', url, token: async () => null }).repository(
    'acme/tiny',
    null,
    signal,
  );
  const [file] = repository.files;
  if (!file) throw new Error('the hub lists no file');
  // What runs beside it shares caches and execution units and makes processor time dearer, never cheaper: the least is
  // the download's own.
  const costs: number[] = [];
  while (costs.length < MOST_RUNS && (costs.length === 0 || Math.min(...costs) >= 1)) {
    const paths = { partPath: join(folder, `part-${costs.length}`), targetPath: join(folder, `whole-${costs.length}`) };
    costs.push(await processorsFor(download(file, { journal: journalIn(db), ...paths }, signal)));
  }
  expect(Math.min(...costs)).toBeLessThan(1);
}, 120_000);

/** Processors that the fetch, the hashes and the disk would keep busy at 1 Gbit/s. */
async function processorsFor(states: ReturnType<typeof download>): Promise<number> {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  let last = '';
  let fetched = 0;
  for await (const state of states) {
    if (state.at === 'verifying' && fetched === 0) fetched = performance.now() - began;
    last = state.at;
  }
  const { user, system } = process.cpuUsage(cpu);
  expect(last).toBe('done');
  const bytes = MEBIBYTES * 2 ** 20;
  const processors = ((user + system) / 1e6 / bytes) * LINK;
  console.log(`${(bytes / fetched / 1000).toFixed(0)} MB/s fetched, ${processors.toFixed(2)} processors at 1 Gbit/s`);
  return processors;
}
