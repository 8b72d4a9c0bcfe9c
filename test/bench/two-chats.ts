// Records, as text, two chats of the built-in model that write at the same time, and what the next prompts report about tokens
// that were read again.
//   node test/bench/two-chats.ts [--out FILE.md]
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheReport } from '../../app/cli/runtime/cache-report.ts';
import type { PromptMessage } from '../../app/engine/ipc-protocol.ts';
import { loadAddon } from '../../app/engine/process/addon.ts';
import { loadModel } from '../../app/engine/process/model/loaded-model.ts';
import { promptIds } from '../../app/engine/process/prompt/prompt-tokens.ts';
import type { ModelId } from '../../app/protocol/index.ts';
import { createTemplateRenderer } from '../../app/text/jinja/template-renderer.ts';
import type { NumericPath } from '../../native/addon/index.d.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const root = join(import.meta.dirname, '..', '..');
const addon = loadAddon(join(root, 'build/native/Release/longhand.node'));
const chosen = { device: 'cpu', threads: 2, contextLength: 2048, template: null, kvType: 'f16' as const, packed: null };
const model = await loadModel(
  addon,
  {
    modelId: 'starter' as ModelId,
    path: join(root, 'resources/starter-model'),
    ...chosen,
    cacheBytes: 2 ** 28,
    cacheDisk: null,
  },
  'cpu',
  new addon.AbortFlag(),
  () => {},
  () => {},
);
const renderer = createTemplateRenderer({ worker: join(root, 'app/text/jinja/template-process.ts') });
const lines: string[] = [];
const print = (line = '') => {
  lines.push(line);
  console.log(line);
};
const stopTokens = [...model.text.stopIds];
const user = (text: string): PromptMessage => ({ role: 'user', text, thinking: '', ids: null });
const idsOf = async (text: string) =>
  (await promptIds(model.text, renderer, { messages: [user(text)], thinking: false, continuation: null })).ids;

type Event = { at: number; chat: string; text: string };
let began = 0;

async function ask(chat: string, ids: number[], events: Event[], path: NumericPath = 'fast') {
  const session = model.native.createSession({ contextLength: 2048, path });
  const { reuse } = await session.generate(Int32Array.from(ids), {
    maxTokens: 16,
    temperature: 0,
    stopTokens,
    path,
    onTokens: (tokens) => {
      const said = model.text.decode(tokens.map(({ id }) => id).filter((id) => !stopTokens.includes(id)));
      if (said !== '') events.push({ at: performance.now() - began, chat, text: said });
    },
  });
  session.close();
  return cacheReport(reuse, ids, model.text.decode);
}

const questions = { A: 'Hello! Who are you?', B: 'What can you do?' };
const events: Event[] = [];
const prompts = { A: await idsOf(questions.A), B: await idsOf(questions.B) };
began = performance.now();
await Promise.all(Object.entries(prompts).map(([chat, ids]) => ask(chat, ids, events)));
print('| after, ms | A: Hello! Who are you? | B: What can you do? |');
print('|---|---|---|');
for (const { at, chat, text } of events) {
  const said = `\`${text.replaceAll('\n', '⏎')}\``;
  print(`| ${at.toFixed(1)} | ${chat === 'A' ? said : ''} | ${chat === 'B' ? said : ''} |`);
}
print();
print('What `--cache-report` says of the next prompts:');
print();
const next: [string, string, NumericPath?][] = [
  ['The same question again', questions.A],
  ['A question that begins alike', 'Hello! Who are they?'],
  ['On the other numeric path', questions.A, 'exact'],
];
for (const [what, text, path] of next) {
  print(`${what}:`);
  print('```');
  print(await ask('A', await idsOf(text), [], path));
  print('```');
}
model.close();
await renderer.close();
if (values.out) writeFileSync(values.out, `${lines.join('\n')}\n`);
process.exit(0);
