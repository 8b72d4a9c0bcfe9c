// A prompt cache on disk, written by one process and read by the next: for tests that load a whole model anyway, and for
// processes without a test runner.
import type { Model, Session } from '../../../native/addon/index.d.ts';
import { someTokens } from './models.ts';

const END = 2;

type Read = { cached: number; same: boolean };

async function answered(session: Session, prompt: Int32Array) {
  const events: unknown[] = [];
  const { timings } = await session.generate(prompt, {
    maxTokens: 3,
    path: 'exact',
    stopTokens: [END],
    logprobs: 3,
    owner: 'chat',
    onTokens: (tokens) => events.push(...tokens.map(({ id, logprob, top }) => ({ id, logprob, top }))),
  });
  const states = (await session.states()).map(({ data }) => [...data]);
  return { numbers: JSON.stringify([events, states]), cached: timings.cachedTokens };
}

/** The number of tokens that came back from disk, and whether everything computed from them equals what the model `cold` computes. */
export async function fromDisk(warm: Model, cold: Model, folder: string): Promise<Read> {
  const chat = [...someTokens(9, 21), END, ...someTokens(30, 22), END];
  const session = (model: Model) => model.createSession({ contextLength: 128, path: 'exact' });
  const disk = { folder, bytes: 2 ** 28 };
  warm.setPromptCache(2 ** 28);
  await warm.setPromptCacheDisk(disk);
  await answered(session(warm), Int32Array.from([...chat, 5]));
  await warm.flushPromptCache();
  // As when a process starts: nothing is in memory, and the files on disk are found.
  warm.setPromptCache(0);
  await warm.setPromptCacheDisk(null);
  warm.setPromptCache(2 ** 28);
  await warm.setPromptCacheDisk(disk);
  const next = Int32Array.from([...chat, ...someTokens(12, 23), END, 5]);
  const [here, there] = [await answered(session(warm), next), await answered(session(cold), next)];
  await warm.setPromptCacheDisk(null);
  return { cached: there.cached === 0 ? here.cached : -1, same: here.numbers === there.numbers };
}
