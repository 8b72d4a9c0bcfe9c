//  What models answer from the passages: node test/bench/documents/answers.ts MODEL NAME [QUESTIONS]
//  MODEL is "starter" or a path; NAME is its name in the table. Asks the questions of the report set through the whole core, with
//  all-MiniLM-L6-v2, and writes test/bench/results/answers-NAME.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { NOT_FOUND } from '../../../app/chat/prompt/rag-prompt.ts';
import { createCore } from '../../../app/core/core.ts';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import {
  type ClientFrame,
  type CoreFrame,
  createClient,
  type Message,
  type ModelId,
  pipePair,
} from '../../../app/protocol/index.ts';
import { manuals, report } from '../../app/documents/evaluation/set.ts';
import { realModel } from '../../support/models/real-models.mjs';

const root = resolve(import.meta.dirname, '../../..');
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

const [model = 'starter', name = 'starter', most = '40'] = process.argv.slice(2);
const dataFolder = mkdtempSync(join(tmpdir(), 'longhand-answers-'));
const host = await createCore({
  ...places,
  dataFolder,
  startEngine: engineByFork(places.engine, places),
  startParser: parserByFork(places),
  about: { version: '0', commit: '', shell: 'browser' },
});
const client = createClient();
const [mine, its] = pipePair<ClientFrame, CoreFrame>();
client.attach(mine);
host.connect(its);

const { id: encoder } = await client.call('models.import', { path: await realModel('minilm') });
const modelId = model === 'starter' ? ('starter' as ModelId) : (await client.call('models.import', { path: model })).id;
const { id: collectionId } = await client.call('documents.createCollection', { name: 'Library' });
await client.call('documents.setEmbedding', { collectionId, modelId: encoder });
const files = Object.entries({ ...report.library, ...manuals }).map(([file, text]) => {
  const path = join(dataFolder, file);
  writeFileSync(path, text);
  return { path, name: file };
});
await client.call('documents.add', { collectionId, files });
for (let done = false; !done; ) {
  await new Promise((again) => setTimeout(again, 500));
  const documents = await client.call('documents.list', { collectionId });
  const { embedding } = (await client.call('documents.collections')).find(({ id }) => id === collectionId) ?? {};
  done =
    documents.every(({ state }) => state.status === 'ready') &&
    embedding?.total !== 0 &&
    embedding?.done === embedding?.total;
}

async function ask(text: string): Promise<Message> {
  const { id: chatId } = await client.call('chats.create', { modelId });
  await client.call('chats.update', {
    chatId,
    collectionIds: [collectionId],
    sampling: { temperature: 0, maxTokens: 96 },
  });
  const ended = new Promise<void>((done) => {
    client.on('turn', ({ chatId: of, event }) => {
      if (of === chatId && (event.type === 'finished' || event.type === 'failed')) done();
    });
  });
  const { messageId } = await client.call('turns.send', { chatId, text });
  await ended;
  const { messages } = await client.call('chats.get', { chatId });
  return messages.find(({ id }) => id === messageId) as Message;
}

const sample = <One>(all: readonly One[], count: number): One[] => {
  const step = Math.max(1, Math.floor(all.length / count));
  return all.filter((_, at) => at % step === 0).slice(0, count);
};
const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');
const can = sample(report.answerable, Number(most));
const cannot = sample(report.unanswerable, Math.ceil(Number(most) / 3));
const counts = { asked: 0, said: 0, cited: 0, citedRight: 0, fact: 0, supported: 0, sentences: 0, refused: 0 };
for (const { question, gold } of can) {
  const { text, grounding } = await ask(question);
  if (grounding?.found) ++counts.asked;
  if (text.includes(NOT_FOUND)) continue;
  ++counts.said;
  const cited = grounding?.sources.filter((source) => source.cited) ?? [];
  if (cited.length > 0) ++counts.cited;
  if (cited.some((source) => flat(source.text).includes(flat(gold)))) ++counts.citedRight;
  if (gold.split(' ').some((word) => /\d/.test(word) && text.includes(word)) || flat(text).includes(flat(gold)))
    ++counts.fact;
  counts.sentences += grounding?.support.length ?? 0;
  counts.supported += grounding?.support.filter(({ level }) => level === 'supported').length ?? 0;
}
for (const { question } of cannot) {
  const { text } = await ask(question);
  if (text.includes(NOT_FOUND)) ++counts.refused;
}
await host.close();
rmSync(dataFolder, { recursive: true, force: true });

const lines = [
  `# Answers of ${name}`,
  '',
  `\`node test/bench/documents/answers.ts\`, ${can.length} answerable and ${cannot.length} unanswerable questions of the report set, temperature 0.`,
  '',
  '| | |',
  '|---|---|',
  `| the model was asked (something was found) | ${counts.asked} of ${can.length} |`,
  `| it answered | ${counts.said} |`,
  `| with a citation | ${counts.cited} |`,
  `| and the cited passage has the fact | ${counts.citedRight} |`,
  `| the answer itself has the fact, or its number | ${counts.fact} |`,
  `| sentences marked as supported | ${counts.supported} of ${counts.sentences} |`,
  `| unanswerable questions refused, by the search or by the model | ${counts.refused} of ${cannot.length} |`,
];
writeFileSync(join(root, 'test', 'bench', 'results', `answers-${name}.md`), `${lines.join('\n')}\n`);
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(0);
