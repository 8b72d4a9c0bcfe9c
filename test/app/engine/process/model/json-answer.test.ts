import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Generation, TurnUpdate } from '../../../../../app/engine/ipc-protocol.ts';
import { runGeneration } from '../../../../../app/engine/process/generation/generation.ts';
import { isJsonSoFar } from '../../../../../app/engine/process/model/json-answer.ts';
import { loadModel } from '../../../../../app/engine/process/model/loaded-model.ts';
import { createPictureReader } from '../../../../../app/engine/process/prompt/picture-reader.ts';
import type { ModelId, TurnId } from '../../../../../app/protocol/index.ts';
import { createTemplateRenderer } from '../../../../../app/text/jinja/template-renderer.ts';
import { addon } from '../../../../support/addon.ts';
import { realModel } from '../../../../support/models/real-models.mjs';

/** At temperature 0 SmolLM2 opens the same lists in each other until it loops; what it writes then is no JSON without a grammar. */
const SETTINGS = 'Write a JSON object with the settings of a music player, as complete as you can. Write only JSON.';
const chatml =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}{{ '<|im_start|>assistant\n' }}";
const message = (role: 'system' | 'user', text: string) => ({ role, text, thinking: '', ids: null });

vi.setConfig({ testTimeout: 240_000 });

const app = join(import.meta.dirname, '../../../../../app');

test('every beginning of JSON is JSON so far, and nothing else is', () => {
  const json = String.raw`[{"a\"}": [1.5e-3, -20, true, null], "b\\": {"c": "x\u00e9]"}}, false, ""]`;
  for (let end = 2; end <= json.length; end++) expect(isJsonSoFar(json.slice(0, end)), json.slice(0, end)).toBe(true);
  expect(isJsonSoFar(`Here it is:\n\n\`\`\`json\n${json.slice(0, 30)}`)).toBe(true);
  expect(isJsonSoFar(`\`\`\`json\n${json}\n\`\`\`\n\nThis list is complete.`)).toBe(true);
  expect(isJsonSoFar(`\`\`\`json\n${json} and more\n\`\`\``)).toBe(false);
  for (const other of [
    '',
    'The list is [1, 2]',
    "[Friend's name], hello",
    '{"a": 1}, {"b": 2}',
    '[1, 2] are',
    '{a: 1',
    '["a" "b',
  ])
    expect(isJsonSoFar(other), other).toBe(false);
});

test('JSON that was rewound out of a loop stays JSON, whatever the model would have written', async () => {
  const target = {
    modelId: 'model' as ModelId,
    path: await realModel('smollm2'),
    device: 'cpu',
    threads: 2,
    contextLength: 2048,
    kvType: 'f16' as const,
    template: chatml,
    packed: null,
    cacheBytes: 2 ** 28,
    cacheDisk: null,
  };
  const nothing = () => {};
  const model = await loadModel(addon, target, 'cpu', new addon.AbortFlag(), nothing, nothing);
  const renderer = createTemplateRenderer({ worker: join(app, 'text/jinja/template-process.ts') });
  const pictures = createPictureReader(join(app, 'pictures/picture-process.ts'));
  onTestFinished(async () => {
    model.close();
    await renderer.close();
    await pictures.close();
  });
  const generation: Generation = {
    turnId: 'turn' as TurnId,
    chatId: null,
    priority: 'chat',
    target,
    prompt: {
      messages: [message('system', 'You are a helpful assistant. Answer briefly.'), message('user', SETTINGS)],
      thinking: false,
      continuation: null,
    },
    sampling: { temperature: 0, maxTokens: 400, seed: 1 },
    stops: [],
    thinkingBudget: { tokens: null, seconds: null },
    loopGuard: { sensitivity: 'balanced', inAnswers: true, action: 'ask', waitSeconds: 0 },
  };
  let answer = '';
  let loops = 0;
  let waits = false;
  const report = (updates: TurnUpdate[]) => {
    for (const { event } of updates) {
      if (event.type === 'delta') answer += event.text;
      if (event.type === 'retracted') answer = answer.slice(0, event.from);
      if (event.type === 'paused') waits = true;
      if (event.type === 'loop') loops += 1;
    }
  };
  const running = runGeneration({ addon, renderer, pictures, generation, report, again: nothing });
  while (!running.over()) {
    await running.run(model);
    if (waits) running.decide(loops > 2 ? 'stop' : 'rewind');
    waits = false;
  }
  expect(loops).toBeGreaterThan(0);
  expect(isJsonSoFar(answer), answer).toBe(true);
});
