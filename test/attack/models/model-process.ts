import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { toLonghandError } from '../../../app/engine/process/addon-errors.ts';
import { inspectModel } from '../../../app/engine/process/model/loaded-model.ts';
import { readModelText } from '../../../app/engine/process/model/tokenizer-files.ts';
import { createTemplateRenderer } from '../../../app/text/jinja/template-renderer.ts';
import type * as Addon from '../../../native/addon/index.d.ts';

//  Treats a model like the engine does, in a process that may crash: inspects it, reads its tokenizer and
//  template, loads it, and generates three tokens.

export type Tried = {
  /** Refusals; empty if the model works. */
  refusals: { step: string; code: string; message: string }[];
  /** Peak resident memory above the start. */
  grownMb: number;
};

const [addonFile = '', worker = ''] = process.argv.slice(2);
const addon = createRequire(import.meta.url)(addonFile) as typeof Addon;
const renderer = createTemplateRenderer({ worker, timeLimitMs: 5000 });

async function tryModel(path: string): Promise<Tried> {
  const grownMb = watchMemory();
  const refusals: Tried['refusals'] = [];
  const refuse = (step: string, error: unknown) => {
    const { code, message } = toLonghandError(error);
    refusals.push({ step, code, message });
  };
  try {
    const { description } = await inspectModel(addon, renderer, { path }, null);
    for (const message of description.problems) refusals.push({ step: 'inspect', code: 'model-unsupported', message });
  } catch (error) {
    refuse('inspect', error);
  }
  let ids = [1, 2, 3];
  try {
    const { tokenizer, decode } = await readModelText(addon, path);
    const read = tokenizer.encode(tokenizer.split('Hello there, 123 \u00e9\u{1f600} <|im_end|>'));
    decode(read.slice(0, 20));
    ids = read.slice(0, 8);
  } catch (error) {
    refuse('tokenizer', error);
  }
  try {
    const model = await addon.load(path, { device: 'cpu', threads: 1 });
    try {
      if (model.description.encoder) await model.embed(Int32Array.of(1, 2, 3));
      else {
        const session = model.createSession({ contextLength: Math.min(64, model.contextLength) });
        const prompt = Int32Array.from(ids.length > 0 ? ids : [1], (id) => Math.min(id, model.vocabularySize - 1));
        await session.generate(prompt, { maxTokens: 3 });
      }
    } finally {
      model.close();
    }
  } catch (error) {
    refuse('load', error);
  }
  return { refusals, grownMb: grownMb() };
}

/** Above this, collect garbage first. */
const MUCH = 300 * 2 ** 20;

/** If the system can reset the peak, it is this model's own; otherwise the peak of all so far. Memory left by
 *  earlier models does not count. */
function watchMemory(): () => number {
  if (process.memoryUsage.rss() > MUCH) globalThis.gc?.();
  const before = process.memoryUsage.rss() / 2 ** 20;
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    return () => process.resourceUsage().maxRSS / 1024 - before;
  }
  return () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024 - before;
}

process.on('message', async (path: string) => process.send?.(await tryModel(path)));
