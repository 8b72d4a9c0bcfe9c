// The cost of the server before the first token: node test/bench/server-overhead.ts [--rounds 30]
// The built-in model answers the same questions in a chat and over HTTP (/v1/chat/completions, streamed), in turn, each in a new
// conversation. Prints the medians in milliseconds from the request to the first token, and that of the differences, pair by pair.
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createCore } from '../../app/core/core.ts';
import { parserByFork } from '../../app/documents/parse/fork-parser.ts';
import { engineByFork } from '../../app/engine/client/fork-engine.ts';
import { type ClientFrame, type CoreFrame, createClient, pipePair, STARTER } from '../../app/protocol/index.ts';
import { startApiServer } from '../../app/server/api/api-server.ts';
import { readOptions } from './options.mjs';

const { values } = readOptions(import.meta.filename, { options: { rounds: { type: 'string', default: '30' } } });
const rounds = Number(values.rounds);
const WARM_UP = 5;
const KEY = 'lh-bench-key';

const root = resolve(import.meta.dirname, '../..');
const places = {
  engine: join(root, 'app/engine/process/main.ts'),
  worker: join(root, 'app/text/jinja/template-process.ts'),
  pictureWorker: join(root, 'app/pictures/picture-process.ts'),
  documentParser: join(root, 'app/documents/parse/parser-process.ts'),
  documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
  addon: join(root, 'build/native/Release/longhand.node'),
  migrations: join(root, 'app/store/database/migrations'),
  resources: join(root, 'resources'),
};
const dataFolder = mkdtempSync(join(tmpdir(), 'longhand-bench-'));
const core = await createCore({
  ...places,
  dataFolder,
  startEngine: engineByFork(places.engine, places),
  startParser: parserByFork(places),
  about: { version: '0', commit: '', shell: 'browser' },
});
const client = createClient();
const [mine, its] = pipePair<ClientFrame, CoreFrame>();
client.attach(mine);
core.connect(its);
const server = await startApiServer({ inference: core.inference, version: '0', port: 0, keys: [KEY] });

async function inChat(text: string): Promise<number> {
  const chat = await client.call('chats.create', { modelId: STARTER });
  const began = performance.now();
  let first = 0;
  const ended = new Promise<void>((done) => {
    const stop = client.on('turn', ({ chatId, event }) => {
      if (chatId !== chat.id) return;
      if (event.type === 'delta' && first === 0) first = performance.now() - began;
      if (event.type !== 'finished' && event.type !== 'failed') return;
      stop();
      done();
    });
  });
  await client.call('turns.send', { chatId: chat.id, text });
  await ended;
  return first;
}

const overHttp = (text: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    let first = 0;
    const body = { model: 'starter', stream: true, max_tokens: 16, messages: [{ role: 'user', content: text }] };
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const asked = request(`${server.address}/v1/chat/completions`, { method: 'POST', headers }, (answer) => {
      answer.on('data', (piece: Buffer) => {
        if (first === 0 && /"(?:content|reasoning_content)":"[^"]/.test(String(piece)))
          first = performance.now() - began;
      });
      answer.on('end', () => resolve(first));
    });
    asked.on('error', reject).end(JSON.stringify(body));
  });

const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
const chat: number[] = [];
const http: number[] = [];
for (let round = -WARM_UP; round < rounds; round++) {
  // Both questions are new to the cache and equally long.
  const question = (mark: string) => `What is ${1000 + round} and ${mark}${100 + round} together?`;
  const pair = round % 2 ? [await inChat(question('1')), await overHttp(question('2'))] : [];
  if (pair.length === 0) pair.unshift(...[await overHttp(question('2')), await inChat(question('1'))].reverse());
  if (round < 0) continue;
  chat.push(pair[0] ?? 0);
  http.push(pair[1] ?? 0);
}
const differences = http.map((ms, at) => ms - (chat[at] ?? 0));
console.log(
  `in a chat ${median(chat).toFixed(1)} ms, over HTTP ${median(http).toFixed(1)} ms, difference ${median(differences).toFixed(1)} ms`,
);
await server.close();
await core.close();
rmSync(dataFolder, { recursive: true, force: true });
