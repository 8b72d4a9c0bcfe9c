import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readModelText } from '../../../app/engine/process/model/tokenizer-files.ts';

//  Reads the tokenizer of a folder or GGUF file like the engine, and reports the growth of this process in bytes:
//  node tokenizer-memory.ts PATH

const addon = createRequire(import.meta.url)('../../../build/native/Release/longhand.node');
const read = async (path: string) => {
  try {
    await readModelText(addon, path);
    return null;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

/** On Linux maxRSS begins with the size of the process that started this one. */
function peak(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

const [path = ''] = process.argv.slice(2);
const before = process.memoryUsage.rss();
const refused = await read(path);
process.stdout.write(JSON.stringify({ refused, grown: peak() - before }));
