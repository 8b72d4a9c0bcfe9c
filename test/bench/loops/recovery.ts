// What becomes of an answer after a loop, with a real model and the engine's own code, without a window:
//
//   node test/bench/loops/recovery.ts MODEL.gguf --way answer-now|rewind [--tasks FILE] [--most 20] [--tokens 400] [--from N]
//     [--minutes 4] [--out FILE]
//
// Every question is asked at temperature 0; when an answer loops, the way out is taken as a person would take it. For
// "answer-now" the template opens the thinking, since these models do not think by themselves, and the same question is also asked
// without thinking, to see what the model could have said. --tasks: others to be rewound, a JSON array of { ask, json }. Prints one
// JSON line per transcript, for test/app/text/loop/loop-recovery.md to judge; ends after --minutes, and --from goes on with a later
// question.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Generation, Prompt, TurnUpdate } from '../../../app/engine/ipc-protocol.ts';
import { loadAddon } from '../../../app/engine/process/addon.ts';
import { runGeneration } from '../../../app/engine/process/generation/generation.ts';
import { loadModel } from '../../../app/engine/process/model/loaded-model.ts';
import { createPictureReader } from '../../../app/engine/process/prompt/picture-reader.ts';
import type { LoopEvidence, ModelId, PauseAction, TurnId } from '../../../app/protocol/index.ts';
import { createTemplateRenderer } from '../../../app/text/jinja/template-renderer.ts';
import { LONG, SHORT, type Task } from './recovery-questions.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    way: { type: 'string', default: 'rewind' },
    tasks: { type: 'string' },
    most: { type: 'string', default: '20' },
    tokens: { type: 'string', default: '400' },
    from: { type: 'string', default: '0' },
    minutes: { type: 'string', default: '4' },
    out: { type: 'string' },
  },
});
const way = values.way as 'answer-now' | 'rewind';
const [path] = positionals;
if (!path || !['answer-now', 'rewind'].includes(way)) {
  console.error('[recovery] MODEL.gguf --way answer-now|rewind');
  process.exit(2);
}

/** The prompt of both models, with the thinking opened on request. */
const template =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}" +
  "{{ '<|im_start|>assistant\n' }}{% if enable_thinking %}{{ '<think>\n' }}{% endif %}{# </think> ends it #}";
const SYSTEM = {
  thinking: 'Think aloud for a long time: say the question again, doubt every step, and check each of them once more.',
  answer: 'You are a helpful assistant. Answer briefly.',
};

const app = join(import.meta.dirname, '../../../app');
const addon = loadAddon(join(app, '../build/native/Release/longhand.node'));
const target = {
  modelId: 'model' as ModelId,
  path,
  device: 'cpu',
  threads: 2,
  contextLength: 2048,
  kvType: 'f16' as const,
  template,
  packed: null,
  cacheBytes: 2 ** 28,
  cacheDisk: null,
};
const model = await loadModel(
  addon,
  target,
  'cpu',
  new addon.AbortFlag(),
  () => {},
  () => {},
);
const renderer = createTemplateRenderer({ worker: join(app, 'text/jinja/template-process.ts') });
const pictures = createPictureReader(join(app, 'pictures/picture-process.ts'));

interface Told {
  thinking: string;
  answer: string;
  loops: (LoopEvidence & { choice: PauseAction })[];
  reason: string;
  /** All tokens written, including those taken back. */
  tokens: number;
}

const message = (role: 'system' | 'user', text: string) => ({ role, text, thinking: '', ids: null });

/** One answer; `choose` decides what to do about the n-th loop, counted from 1. */
async function told(question: string, thinking: boolean, choose: (times: number) => PauseAction): Promise<Told> {
  const all: Told = { thinking: '', answer: '', loops: [], reason: '', tokens: 0 };
  const system = thinking ? SYSTEM.thinking : SYSTEM.answer;
  const prompt: Prompt = {
    messages: [message('system', system), message('user', question)],
    thinking,
    continuation: null,
  };
  const generation: Generation = {
    turnId: 'turn' as TurnId,
    chatId: null,
    priority: 'chat',
    target,
    prompt,
    sampling: { temperature: 0, maxTokens: Number(values.tokens) + (thinking ? 600 : 0), seed: 1 },
    stops: [],
    thinkingBudget: { tokens: null, seconds: null },
    loopGuard: { sensitivity: 'balanced', inAnswers: true, action: 'ask', waitSeconds: 0 },
  };
  let asks = false;
  const report = (updates: TurnUpdate[]) => {
    for (const { event } of updates) {
      if (event.type === 'delta') all[event.kind] += event.text;
      if (event.type === 'retracted') all[event.kind] = all[event.kind].slice(0, event.from);
      if (event.type === 'paused' && event.evidence)
        all.loops.push({ ...event.evidence, choice: choose(all.loops.length + 1) });
      if (event.type === 'paused') asks = true;
      if (event.type === 'failed') throw new Error(event.failure.message);
      if (event.type === 'finished') {
        all.reason = event.reason;
        all.tokens = event.usage.answerTokens + event.usage.thinkingTokens;
      }
    }
  };
  const running = runGeneration({ addon, renderer, pictures, generation, report, again: () => {} });
  while (!running.over()) {
    await running.run(model);
    if (asks) running.decide(all.loops.at(-1)?.choice ?? 'stop');
    asks = false;
  }
  return all;
}

const tasks: readonly Task[] = values.tasks ? JSON.parse(readFileSync(values.tasks, 'utf8')) : LONG;
const questions = way === 'rewind' ? tasks : SHORT.map((ask) => ({ ask }));
const began = performance.now();
let found = 0;
for (const [at, { ask, ...more }] of questions.entries()) {
  if (at < Number(values.from) || found >= Number(values.most)) continue;
  if (performance.now() - began > Number(values.minutes) * 60_000) {
    console.error(`[recovery] goes on with --from ${at}`);
    break;
  }
  const one =
    way === 'rewind'
      ? await told(ask, false, (times) => (times > 3 ? 'stop' : 'rewind'))
      : await told(ask, true, (times) => (times > 1 ? 'stop' : 'answer-now'));
  const looped = one.loops.length > 0 && (way === 'rewind' || one.loops[0]?.where === 'thinking');
  console.error(`${at} ${looped ? 'looped' : `no loop, ${one.reason}`}: ${ask}`);
  if (!looped) continue;
  found += 1;
  const plain = way === 'rewind' ? null : (await told(ask, false, () => 'stop')).answer;
  const line = `${JSON.stringify({ model: path.split('/').at(-1), way, at, ask, ...more, ...one, plain })}\n`;
  if (values.out) appendFileSync(values.out, line);
  else process.stdout.write(line);
}
model.close();
await renderer.close();
await pictures.close();
