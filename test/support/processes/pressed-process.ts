// A process that runs out of address space again and again, while loading a model and while answering, and prints the result
// of each attempt. node test/support/processes/pressed-process.ts PATH OTHER       OTHER: a model that fits into the space that is left
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { loadAddon } from '../../../app/engine/process/addon.ts';
import type * as Addon from '../../../native/addon/index.d.ts';
import { repository } from '../addon.ts';

export interface Try {
  roomMB: number;
  /** The error code; null if it succeeded. */
  code: string | null;
  message: string;
}
export interface Pressed {
  loads: Try[];
  /** Within the space in which the model did not fit. */
  otherLoads: boolean;
  sessions: Try[];
  /** Every answer after a failure equals that of a process with enough memory. */
  answersAfter: boolean[];
}

const [path = '', other = ''] = process.argv.slice(2);
const addon = loadAddon(`${repository}/build/native/Release/longhand.node`);
const MB = 2 ** 20;
const CONTEXT = 4096;
const prompt = Int32Array.from({ length: 2200 }, (_, i) => 5 + ((i * 37) % 101));

const held = () => Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

const limit = (bytes: string) => execFileSync('prlimit', [`--pid=${process.pid}`, `--as=${bytes}:unlimited`]);

/** Models and sessions are freed on threads of their own. */
async function settled(): Promise<void> {
  for (let last = held(), still = 0; still < 5; still++) {
    await wait(10);
    const now = held();
    if (now !== last) still = 0;
    last = now;
  }
}

async function within(roomMB: number, work: () => Promise<void>): Promise<Try> {
  await settled();
  limit(String(held() + roomMB * MB));
  try {
    await work();
    return { roomMB, code: null, message: '' };
  } catch (error) {
    const { code = 'none', message } = error as Error & { code?: string };
    return { roomMB, code, message };
  } finally {
    limit('unlimited');
  }
}

/** With the prompt cache, which goes without memory that it cannot get. */
async function load(from: string): Promise<Addon.Model> {
  const model = await addon.load(from, { device: 'cpu', threads: 2 });
  model.setPromptCache(2 ** 30);
  return model;
}

async function answer(session: Addon.Session): Promise<string> {
  const { tokens } = await session.generate(prompt, { maxTokens: 8, temperature: 0 });
  return tokens.join();
}

async function loadWithin(roomMB: number, from: string): Promise<Try> {
  let model: Addon.Model | undefined;
  const outcome = await within(roomMB, async () => {
    model = await load(from);
  });
  model?.close();
  return outcome;
}

const whole = await load(path);
const roomy = whole.createSession({ contextLength: CONTEXT, kvType: 'f32' });
const right = await answer(roomy);
roomy.close();
whole.close();

const loads: Try[] = [];
for (let room = 16; loads.at(-1)?.code !== null; room += 12) loads.push(await loadWithin(room, path));
const { code } = await loadWithin(loads.at(-2)?.roomMB ?? 0, other);

const sessions: Try[] = [];
const answersAfter: boolean[] = [];
for (let room = 1; sessions.at(-1)?.code !== null; room += 48) {
  const model = await load(path); // a new one has no memory of earlier answers left
  let session: Addon.Session | undefined;
  const outcome = await within(room, async () => {
    session = model.createSession({ contextLength: CONTEXT, kvType: 'f32' });
    await answer(session);
  });
  sessions.push(outcome);
  // In the session that failed, if it got that far.
  session ??= model.createSession({ contextLength: CONTEXT, kvType: 'f32' });
  answersAfter.push((await answer(session)) === right);
  session.close();
  model.close();
}
process.send?.({ loads, otherLoads: code === null, sessions, answersAfter } satisfies Pressed);
