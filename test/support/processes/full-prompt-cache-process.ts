// A process that caches prompts on a disk that is too small for them; its last line says what is on the disk.
// node test/support/processes/full-prompt-cache-process.ts MODEL FOLDER
import { readdirSync, statfsSync } from 'node:fs';
import { addon } from '../addon.ts';
import { someTokens } from '../models/models.ts';
import { END } from '../models/prompt-trees.ts';

const [path = '', folder = ''] = process.argv.slice(2);
const model = await addon.load(path, { device: 'cpu', threads: 1 });
model.setPromptCache(2 ** 28);
await model.setPromptCacheDisk({ folder, bytes: 2 ** 30 });
const session = model.createSession({ contextLength: 2048 });
let answers = 0;
for (let chat = 0; chat < 20; chat++) {
  const prompt = Int32Array.from([...someTokens(900, 50 + chat), END, 5]);
  const { tokens } = await session.generate(prompt, {
    maxTokens: 1,
    stopTokens: [END],
    owner: `chat-${chat}`,
  });
  await model.flushPromptCache();
  answers += tokens.length;
}
const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.part'));
const { bavail } = statfsSync(folder);
console.log(
  JSON.stringify({
    parts,
    bytes: model.promptCache().diskBytes,
    answers,
    free: bavail,
  }),
);
model.close();
