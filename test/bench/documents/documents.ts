// How fast documents are read and found: node test/bench/documents/documents.ts [--pages N] [--meaning]
// With --meaning, all-MiniLM-L6-v2 also embeds every passage. One PDF of full pages (two columns on every third) goes all the way:
// copy, worker, index. Prints the figures of the README: seconds, peak memory of the process (on Linux of the engine too), the
// longest stall of its event loop, and the time of a search.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments, type DocumentsOptions } from '../../../app/documents/service.ts';
import { createEngine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { openStore } from '../../../app/store/store.ts';
import { noEncoders } from '../../support/documents/no-encoders.ts';
import { makePdf, type Page, type Text } from '../../support/documents/pdf.ts';
import { realModel } from '../../support/models/real-models.mjs';
import { readOptions } from '../options.mjs';

const { values } = readOptions(import.meta.filename, {
  options: {
    pages: { type: 'string', default: '1000' },
    write: { type: 'string' },
    meaning: { type: 'boolean', default: false },
  },
});
const count = Number(values.pages);
const root = resolve(import.meta.dirname, '../../..');

const SYLLABLES = 'ba ce di fo gu la me ni po ru sa te vi zo qua bre stin mor tal ven'.split(' ');
let state = 7;
const random = (below: number) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor(state / 65_536) % below;
};
const word = () => Array.from({ length: 1 + random(3) }, () => SYLLABLES[random(SYLLABLES.length)]).join('');
const line = (characters: number) => {
  let text = word();
  while (text.length < characters) text += ` ${word()}${random(12) === 0 ? '.' : ''}`;
  return text;
};
const column = (x: number, characters: number): Text[] =>
  Array.from({ length: 50 }, (_, at) => ({
    text: line(characters),
    x,
    y: 780 - at * 14,
    size: 10,
    font: at % 9 ? 'sans' : 'cid',
  }));
const page = (at: number): Page => ({ texts: at % 3 === 0 ? [...column(50, 40), ...column(310, 40)] : column(50, 84) });

// In a process of its own, so that making the file does not count.
if (values.write !== undefined) {
  writeFileSync(values.write, makePdf({ pages: Array.from({ length: count }, (_, at) => page(at)) }));
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'longhand-bench-'));
const file = join(folder, 'bench.pdf');
execFileSync(process.execPath, [import.meta.filename, '--pages', String(count), '--write', file]);

const encoder = 'minilm' as ModelId;

/** The real engine process with the encoder. */
async function meaning(): Promise<Pick<DocumentsOptions, 'engine' | 'embedders'>> {
  const target = { path: await realModel('minilm'), device: null, threads: null };
  const addon = join(root, 'build/native/Release/longhand.node');
  const startEngine = engineByFork(join(root, 'app/engine/process/main.ts'), {
    worker: join(root, 'app/text/jinja/template-process.ts'),
    pictureWorker: join(root, 'app/pictures/picture-process.ts'),
    addon,
  });
  const engine = createEngine({ startEngine, onStatus: () => {} });
  const embedders = {
    find: () => ({ target, name: 'all-MiniLM-L6-v2' }),
    preset: encoder,
    reranker: () => null,
    qaReranker: null,
  };
  return { engine, embedders };
}

/** Peak memory and processor time of the child processes; 0 if the system does not report them. */
function others(): { bytes: number; seconds: number } {
  const tasks = '/proc/self/task';
  const sum = { bytes: 0, seconds: 0 };
  if (!existsSync(tasks)) return sum;
  const children = readdirSync(tasks).flatMap((task) =>
    readFileSync(join(tasks, task, 'children'), 'utf8')
      .split(' ')
      .filter(Boolean),
  );
  for (const child of children) {
    const peak = readFileSync(`/proc/${child}/status`, 'utf8').match(/VmHWM:\s+(\d+) kB/)?.[1];
    // Fields 14 and 15 of proc(5), after the name in brackets, in ticks of 10 ms.
    const fields = readFileSync(`/proc/${child}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    sum.bytes += Number(peak ?? 0) * 1024;
    sum.seconds += (Number(fields[11]) + Number(fields[12])) / 100;
  }
  return sum;
}

const sense = values.meaning ? await meaning() : noEncoders;
const store = await openStore({
  folder: join(folder, 'data'),
  migrations: join(root, 'app/store/database/migrations'),
});
const documents = createDocuments({
  db: store.db,
  ...sense,
  emit: () => {},
  dataFolder: join(folder, 'data'),
  startParser: parserByFork({
    documentParser: join(root, 'app/documents/parse/parser-process.ts'),
    documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
  }),
  help: null,
  now: Date.now,
});
const { handlers } = documents;
const collection = await handlers['documents.createCollection']({ name: 'Bench' });
const loadBefore = loadavg()[0] ?? 0;

const before = process.memoryUsage().rss;
let most = before;
const sampler = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss);
}, 50);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const cpu = process.cpuUsage();
const started = performance.now();
await handlers['documents.add']({ collectionId: collection.id, files: [{ path: file, name: 'bench.pdf' }] });
await documents.idle();
const seconds = (performance.now() - started) / 1000;
const used = process.cpuUsage(cpu);
const engine = others();
const cpuSeconds = (used.user + used.system) / 1e6;
delay.disable();
clearInterval(sampler);
const [document] = await handlers['documents.list']({ collectionId: collection.id });

const times: number[] = [];
for (let at = 0; at < 50; at++) {
  const query = `${word()} ${word()} ${word()} ${word()}`;
  const from = performance.now();
  await handlers['documents.search']({ query, collectionIds: null, limit: 20 });
  times.push(performance.now() - from);
}
times.sort((a, b) => a - b);

const MB = 1e6;
process.stdout.write(
  `load ${loadBefore.toFixed(1)} before; ${values.meaning ? 'words and meaning' : 'words alone'}; ${count} pages, ${(statSync(file).size / MB).toFixed(1)} MB: ${document?.state.status}, ${document?.passages} passages in ${seconds.toFixed(1)} s ` +
    `(${(count / seconds).toFixed(1)} pages/s; processor time ${cpuSeconds.toFixed(1)} s, of the engine ${engine.seconds.toFixed(1)} s); memory ${(before / MB).toFixed(0)} -> at most ${(most / MB).toFixed(0)} MB, engine at most ${(engine.bytes / MB).toFixed(0)} MB; ` +
    `loop stood still at most ${(delay.max / 1e6).toFixed(0)} ms; search median ${times[25]?.toFixed(1)} ms, slowest ${times[49]?.toFixed(1)} ms\n`,
);
await documents.close();
if (values.meaning) await sense.engine.close();
store.close();
rmSync(folder, { recursive: true, force: true });
