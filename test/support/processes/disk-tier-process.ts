// A process that fills a prompt cache on disk until it is killed; it prints a line when it begins.
// node test/support/processes/disk-tier-process.ts MODEL FOLDER SEED

import { addon } from '../addon.ts';
import { someTokens } from '../models/models.ts';
import { END } from '../models/prompt-trees.ts';

const [path = '', folder = '', seed = '1'] = process.argv.slice(2);
const model = await addon.load(path, { device: 'cpu', threads: 1 });
model.setPromptCache(2 ** 28);
await model.setPromptCacheDisk({ folder, bytes: 2 ** 30 });
const session = model.createSession({ contextLength: 2048 });
process.send?.('reading');
for (let chat = 0; ; chat++) {
  const prompt = Int32Array.from([...someTokens(40, 1), END, ...someTokens(700, Number(seed) + chat), END, 5]);
  await session.generate(prompt, {
    maxTokens: 1,
    stopTokens: [END],
    owner: `chat-${chat}`,
  });
}
