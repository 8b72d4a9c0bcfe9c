import { readModelText } from '../../app/engine/process/model/tokenizer-files.ts';

//  Reads the tokenizer of a folder like the engine, and reports the growth of this process in bytes: node tokenizer-memory.ts FOLDER

const ggufMetadata = () => Promise.reject(new Error('there is no GGUF here'));
const read = async (folder: string) => {
  try {
    await readModelText({ ggufMetadata }, folder);
    return null;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

const [folder = ''] = process.argv.slice(2);
const before = process.memoryUsage.rss();
const refused = await read(folder);
process.stdout.write(JSON.stringify({ refused, grown: process.resourceUsage().maxRSS * 1024 - before }));
