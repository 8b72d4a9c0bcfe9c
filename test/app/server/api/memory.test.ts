import { request } from 'node:http';
import { expect, test } from 'vitest';
import { digestOf } from '../../../../app/core/server-log.ts';
import { collectGarbage } from '../../../support/garbage.ts';
import { startApi } from './api.ts';

//  What the server keeps of a request when it is over: nothing, whatever became of it. The hour of sixteen clients (soak.test.ts) sums up
//  what this tells apart.

const KEY = 'lh-memory';
const CLIENTS = 16;
const REQUESTS = 800;
/** A kept request takes three times this; what else the heap gains in the meantime is a fifth of it. */
const MOST_BYTES = 6000;

function send(address: string, key: string, body: object, read = true): Promise<number> {
  return new Promise((resolve) => {
    let status = 0;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = request(`${address}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (answer) => {
      status = answer.statusCode ?? 0;
      answer.on('data', () => read || sent.destroy());
      answer.on('close', () => resolve(status));
    });
    sent.on('error', () => resolve(status));
    sent.end(JSON.stringify(body));
  });
}

const messages = [{ role: 'user', content: 'What is 1 + 4?' }];

test.for([
  ['of a model that is not here', 404, REQUESTS, () => ({ model: 'nobody', messages })],
  ['of a model that is not here, as a stream', 404, REQUESTS, () => ({ model: 'nobody', messages, stream: true })],
  ['that is none', 400, REQUESTS, () => ({ model: 7 })],
  ['without a known key', 401, REQUESTS, (model: string) => ({ model, messages })],
  ['that is answered', 200, 160, (model: string) => ({ model, messages, max_tokens: 1 })],
  ['that is given up', 200, 240, (model: string) => ({ model, messages, max_tokens: 500, stream: true })],
] as const)('a request %s leaves nothing', { timeout: 240_000 }, async ([what, expected, count, body]) => {
  const { address, model } = await startApi({ keys: () => [{ id: '1', name: 'one', digest: digestOf(KEY) }] });
  const key = expected === 401 ? 'lh-unknown' : KEY;
  const many = async (left: number) => {
    const client = async () => {
      while (left-- > 0) {
        const status = await send(address, key, body(model), what !== 'that is given up');
        expect(expected === 401 ? [401, 429] : [expected]).toContain(status);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  };
  await many(count / 2);
  // What is kept is kept every time; what else the heap gained on a busy machine is not gained again.
  const gained: number[] = [];
  for (let before = await collectGarbage(); gained.length < 3 && !(Math.min(...gained) < MOST_BYTES); ) {
    await many(count);
    const after = await collectGarbage();
    gained.push((after - before) / count);
    before = after;
  }
  expect(Math.min(...gained)).toBeLessThan(MOST_BYTES);
});
