// A process pinned to two processors that decodes in turn alone and beside a busy process on the second of them.
// node test/support/processes/neighbour-process.ts PATH FIRST,SECOND TRIES
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadAddon } from '../../../app/engine/process/addon.ts';
import { repository } from '../addon.ts';

const [path = '', processors = '', tries = ''] = process.argv.slice(2);
const addon = loadAddon(`${repository}/build/native/Release/longhand.node`);
// Set before the engine starts its threads, which inherit it.
execFileSync('taskset', ['-a', '-p', '-c', processors, String(process.pid)], { stdio: 'ignore' });
const model = await addon.load(path, { device: 'cpu', threads: 2 });
const prompt = Int32Array.from({ length: 16 }, (_, i) => 5 + i);

async function tokensPerSecond(): Promise<number> {
  const session = model.createSession({ contextLength: 128 });
  const { tokens, timings } = await session.generate(prompt, { maxTokens: 48, temperature: 0 });
  session.close();
  return ((tokens.length - 1) * 1000) / timings.decodeMs;
}

async function besideNeighbour(): Promise<number> {
  const last = processors.split(',').at(-1) ?? '';
  const neighbour = spawn('taskset', ['-c', last, 'sh', '-c', 'echo; while :; do :; done'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(neighbour.stdout, 'data'); // it runs
    return await tokensPerSecond();
  } finally {
    neighbour.kill('SIGKILL');
    await once(neighbour, 'exit');
  }
}

await tokensPerSecond();
const speeds: { alone: number; beside: number }[] = [];
for (let i = 0; i < Number(tries); i++)
  speeds.push({ alone: await tokensPerSecond(), beside: await besideNeighbour() });
process.send?.(speeds);
