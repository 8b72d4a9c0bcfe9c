import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { toLonghandError } from '../../app/engine/process/addon-errors.ts';
import { inspectModel } from '../../app/engine/process/model/loaded-model.ts';
import { readModelText } from '../../app/engine/process/model/tokenizer-files.ts';
import { createTemplateRenderer } from '../../app/text/jinja/template-renderer.ts';
import type * as Addon from '../../native/addon/index.d.ts';

//  Does with a model what the engine does with one, in a process that may die of it: looks at it, reads its tokenizer and its
//  template, loads it, writes three tokens.

export type Tried = {
  /** What was refused; empty for a model that writes. */
  refusals: { step: string; code: string; message: string }[];
  /** Resident memory at its highest, above what was resident before. */
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
    const { description } = await inspectModel(addon, renderer, path, null);
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

/** Resident bytes from which on it pays to collect what is no longer needed first. */
const MUCH = 300 * 2 ** 20;

/** Where the system can forget its highest mark, it is this model's own; elsewhere it is the highest of all until now. What earlier
 *  models left behind is no growth of this one. */
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
