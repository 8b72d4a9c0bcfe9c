// What one process has left on disk, read by the next: used where a whole model of a back end is loaded anyway, and in processes
// of their own, which have no test runner.
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

/** Tokens that came back from disk, and whether everything computed from them is what `cold`, another load, computes. */
export async function fromDisk(warm: Model, cold: Model, folder: string): Promise<Read> {
  const chat = [...someTokens(9, 21), END, ...someTokens(30, 22), END];
  const session = (model: Model) => model.createSession({ contextLength: 128, path: 'exact' });
  const disk = { folder, bytes: 2 ** 28 };
  warm.setPromptCache(2 ** 28);
  await warm.setPromptCacheDisk(disk);
  await answered(session(warm), Int32Array.from([...chat, 5]));
  await warm.flushPromptCache();
  // As a process begins: nothing is in memory, and what is on disk is found by its files.
  warm.setPromptCache(0);
  await warm.setPromptCacheDisk(null);
  warm.setPromptCache(2 ** 28);
  await warm.setPromptCacheDisk(disk);
  const next = Int32Array.from([...chat, ...someTokens(12, 23), END, 5]);
  const [here, there] = [await answered(session(warm), next), await answered(session(cold), next)];
  await warm.setPromptCacheDisk(null);
  return { cached: there.cached === 0 ? here.cached : -1, same: here.numbers === there.numbers };
}
