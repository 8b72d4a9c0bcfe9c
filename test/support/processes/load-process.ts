// A process that loads a model as the engine does, fills its context, answers, and prints its peak memory.
// node test/support/processes/load-process.ts PATH CONTEXT
import { readFileSync } from 'node:fs';
import { loadAddon } from '../../../app/engine/process/addon.ts';
import { loadModel } from '../../../app/engine/process/model/loaded-model.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { repository } from '../addon.ts';

const [path = '', context = ''] = process.argv.slice(2);
const contextLength = Number(context);
const addon = loadAddon(`${repository}/build/native/Release/longhand.node`);
const chosen = {
  device: 'cpu',
  threads: 2,
  contextLength,
  template: null,
  kvType: 'f16' as const,
  packed: null,
  cacheBytes: 0,
  cacheDisk: null,
};
const target = { modelId: 'model' as ModelId, path, ...chosen };
const model = await loadModel(
  addon,
  target,
  'cpu',
  new addon.AbortFlag(),
  () => {},
  () => {},
);
const answer = 8;
// Six messages, so that snapshots between them are kept too.
const end = 1003;
const every = Math.floor(contextLength / 6);
const prompt = Int32Array.from({ length: contextLength - answer }, (_, at) =>
  at % every === every - 1 ? end : 3 + ((at * 7919) % 1000),
);
await model
  .sessions('chat')
  .take('')
  .generate(prompt, { maxTokens: answer, temperature: 0, stopTokens: [end] });
const { description } = model.native;
const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
process.send?.({ peak, description: { ...description } });
model.close();
