import type {
  AskName,
  FromEngine,
  Generation,
  LoadTarget,
  StartEngine,
  ToEngine,
  TurnUpdate,
} from '../../../app/engine/ipc-protocol.ts';
import type { Ending } from '../../../app/process/supervisor.ts';
import {
  type LoopEvidence,
  type ModelDescription,
  pipePair,
  type TurnEvent,
  type TurnId,
} from '../../../app/protocol/index.ts';

//  An engine in memory that follows a script, for tests of what surrounds it: a hundred conversations in the time that one start of
//  the real engine takes.

export type Says = (generation: Generation) => string;

const usage = { promptTokens: 40, cachedTokens: 0, thinkingTokens: 0, answerTokens: 12 };
const timings = { firstTokenMs: 5, prefillMs: 4, decodeMs: 8, thinkingMs: 0, totalMs: 13, tokensPerSecond: 90 };
const sample = { atMs: 3, phase: 'answer' as const, tokensPerSecond: 90, tokens: 4, memoryBytes: 1e6 };
const evidence: LoopEvidence = {
  where: 'answer',
  kind: 'exact',
  text: 'again and again ',
  repeats: 8,
  periodTokens: 3,
  startToken: 2,
  endToken: 6,
  spentTokens: 8,
  savedTokens: 100,
  times: 1,
};

const description: ModelDescription = {
  supported: true,
  problems: [],
  notices: [],
  family: 'qwen3_5',
  container: 'gguf',
  layers: [],
  hiddenSize: 64,
  vocabularySize: 1000,
  contextLength: 4096,
  parameters: 0,
  weightBytes: 1e6,
  types: {},
  activeBytes: 1e6,
  stateBytes: 1e3,
  contextBytesPerToken: 10,
  memory: null,
  mtp: false,
  encoder: false,
  reranker: false,
  vision: null,
};

/** A question that contains this text makes the answer loop and wait for a decision. */
export const CIRCLING = 'in circles';

/** `parameters`, `template`: of the model that it pretends to have. */
export function scriptedEngine(
  says: Says,
  parameters = 4e9,
  template: string | null = null,
): { startEngine: StartEngine; living: () => number } {
  let living = 0;
  const startEngine: StartEngine = async () => {
    const [core, engine] = pipePair<ToEngine, FromEngine>();
    const { promise: ended, resolve } = Promise.withResolvers<Ending>();
    let alive = true;
    living++;
    const end = (how: string) => {
      if (alive) living--;
      alive = false;
      resolve({ how, lastWords: '' });
    };
    serve(
      says,
      { parameters, template },
      (message) => alive && engine.send(message),
      engine.onMessage,
      () => end('code 0'),
    );
    return { pipe: core, ended, kill: () => end('signal SIGKILL') };
  };
  return { startEngine, living: () => living };
}

function serve(
  says: Says,
  { parameters, template }: { parameters: number; template: string | null },
  send: (message: FromEngine) => void,
  onMessage: (listener: (message: ToEngine) => void) => void,
  quit: () => void,
) {
  const paused = new Map<TurnId, () => void>();
  /** The answers being written; a turn that goes on after a call keeps its id. */
  const going = new Map<TurnId, Generation>();
  /** A question stops these, as in the queue of the real engine. */
  const titles = new Set<TurnId>();
  const facts = (target: LoadTarget) => ({
    modelId: target.modelId,
    backEnd: 'cpu',
    memoryBytes: 1e6,
    contextLength: 4096,
  });
  const answers: Partial<Record<AskName, (input: never) => unknown>> = {
    devices: () => [],
    inspect: () => ({
      description: { ...description, parameters },
      thinking: { able: false, byDefault: false },
      names: [],
    }),
    bandwidth: () => 1e10,
    load(target: LoadTarget) {
      send({ status: { phase: 'ready', ...facts(target) } });
      return { backEnd: 'cpu', memoryBytes: 1e6, contextLength: 4096 };
    },
    preview: () => ({ own: template, text: '' }),
    template: () => template,
    unload: () => null,
    count: () => 40,
    countText: ({ text }: { text: string }) => Math.ceil(text.length / 4),
  };

  const say = (turnId: TurnId, event: TurnEvent, more: Omit<TurnUpdate, 'event'> = {}) => {
    if (going.has(turnId)) send({ turnId, updates: [{ event, ...more }] });
    if (event.type === 'finished') going.delete(turnId);
  };
  const finish = (turnId: TurnId, reason: 'stop' | 'cancelled' | 'loop') =>
    say(turnId, { type: 'finished', reason, usage, timings });

  async function write(generation: Generation) {
    const { turnId, target, priority } = generation;
    if (priority === 'chat') for (const title of titles) finish(title, 'cancelled');
    if (priority === 'title') titles.add(turnId);
    going.set(turnId, generation);
    send({ status: { phase: 'busy', ...facts(target), writing: [{ turnId }] } });
    say(turnId, { type: 'started', model: target.modelId, backEnd: 'cpu' });
    say(turnId, { type: 'progress', done: 40, total: 40, cached: 0 });
    for (const [at, text] of (says(generation).match(/[\s\S]{1,24}/g) ?? []).entries()) {
      await new Promise((done) => setTimeout(done, 1));
      if (going.get(turnId) !== generation) return;
      say(turnId, { type: 'delta', kind: 'answer', text, tokens: 1 }, { ids: [at + 1] });
      if (at === 0) say(turnId, { type: 'stats', sample });
    }
    const asked = generation.prompt.messages.at(-1)?.text ?? '';
    if (asked.includes(CIRCLING) && generation.priority === 'chat') {
      say(turnId, { type: 'loop', evidence });
      say(turnId, { type: 'paused', choices: ['stop', 'rewind', 'loop-guard-off'], suggested: 'stop', evidence });
      await new Promise<void>((decided) => paused.set(turnId, decided));
      say(turnId, { type: 'decided', choice: 'loop-guard-off' });
      say(turnId, { type: 'retracted', kind: 'answer', from: 4 }, { keptIds: 1 });
      say(turnId, { type: 'delta', kind: 'answer', text: ' and on', tokens: 1 }, { ids: [9] });
    }
    finish(turnId, 'stop');
    send({ status: { phase: 'ready', ...facts(target) } });
  }

  onMessage((message) => {
    if ('ask' in message) {
      const answer = answers[message.ask];
      if (answer) send({ id: message.id, value: answer(message.input as never) });
      else send({ id: message.id, failure: { code: 'engine-failed', message: `[script] no ${message.ask}` } });
    } else if ('generate' in message) void write(message.generate);
    else if ('cancel' in message) finish(message.cancel, 'cancelled');
    else if ('decide' in message) paused.get(message.decide)?.();
    else if ('quit' in message) quit();
  });
}
