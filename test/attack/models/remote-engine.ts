import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Generation } from '../../../app/engine/ipc-protocol.ts';
import { answerRemotely } from '../../../app/engine/remote/answer.ts';
import type { Timeouts } from '../../../app/engine/remote/connection.ts';
import type { ModelId, RemoteEngineId, TurnEvent, TurnId } from '../../../app/protocol/index.ts';

//  Asks a remote engine, played by a test, as a chat does.

export const KEY = 'sk-secret-0123456789';
export const LONG: Timeouts = { listMs: 30_000, firstMs: 30_000, silenceMs: 30_000 };

export async function listening(server: Server, scheme = 'http'): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    if ('closeAllConnections' in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const question: Generation = {
  turnId: 'turn' as TurnId,
  chatId: null,
  priority: 'chat',
  target: {
    modelId: 'model' as ModelId,
    path: '',
    device: null,
    threads: null,
    contextLength: null,
    kvType: 'f16',
    template: null,
    packed: null,
    cacheBytes: 0,
    cacheDisk: null,
    remote: { engineId: 'lab' as RemoteEngineId, model: 'm', contextLength: null },
  },
  prompt: { messages: [{ role: 'user', text: 'Hello', thinking: '', ids: null }], thinking: true, continuation: null },
  sampling: {},
  stops: [],
  thinkingBudget: { tokens: null, seconds: null },
  loopGuard: null,
};

/** All events of a turn. */
export async function askedOf(address: string, timeouts: Timeouts): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  await new Promise<void>((done) => {
    answerRemotely({
      generation: question,
      reach: async () => ({ address, key: KEY, fetch }),
      urlOf: async () => '',
      timeouts,
      report(updates) {
        events.push(...updates.map((update) => update.event));
        if (updates.some((update) => update.event.type === 'failed' || update.event.type === 'finished')) done();
      },
    });
  });
  return events;
}
