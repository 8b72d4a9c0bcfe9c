import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { digestOf } from '../../../../app/core/server-log.ts';
import { connect } from '../../../support/core/core.ts';
import { anonymousBytes } from '../../../support/processes.ts';
import { soaking } from '../../../support/soak.ts';
import { startApi } from './api.ts';

//  Sixteen clients at once that ask, hang up, send nonsense and change their keys: an hour with `npm run test:soak`, otherwise seconds.

const CLIENTS = 16;
const SECONDS = soaking ? Number(process.env.LONGHAND_SOAK_MINUTES ?? 60) * 60 : 15;
const MIB = 2 ** 20;
const MAX_GROWTH = 10 * MIB;
const CACHE_MB = 32;

type Answer = { status: number; text: string; whole: boolean };

/** `pieces`: after how many of them the client hangs up. */
function ask(address: string, key: string, body: string, pieces = Number.POSITIVE_INFINITY): Promise<Answer> {
  return new Promise((resolve) => {
    let [status, text, heard] = [0, '', 0];
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = request(`${address}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (answer) => {
      status = answer.statusCode ?? 0;
      answer.on('data', (piece) => {
        text += piece;
        if (++heard >= pieces) sent.destroy();
      });
      answer.on('close', () => resolve({ status, text, whole: answer.complete }));
    });
    sent.on('error', () => resolve({ status, text, whole: false }));
    sent.end(body);
  });
}

const question = (model: string, number: number, more: object = {}) =>
  JSON.stringify({
    model,
    messages: [{ role: 'user', content: `What is ${number} + ${number + 3}?` }],
    temperature: 0,
    max_tokens: 12,
    ...more,
  });

type Memory = { all: number; here: number };

/** Bytes of this process, which is core and clients, and of all with its engine; 0 where the system does not tell. */
function used(): Memory {
  if (process.platform !== 'linux') return { all: 0, here: 0 };
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const here = anonymousBytes(process.pid);
  return { here, all: children.filter(Boolean).reduce((sum, pid) => sum + anonymousBytes(Number(pid)), here) };
}

/** What a streamed answer says, its pieces joined. */
const streamed = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('');
const whole = (text: string) =>
  (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

const NONSENSE = [
  '',
  '{',
  'null',
  '[]',
  '{"model":7}',
  '{"messages":[]}',
  'x'.repeat(100_000),
  '{"model":"nobody","messages":[{"role":"user","content":"?"}]}',
];

test(
  'sixteen clients that hang up, send nonsense and change their keys: no answer is lost or mixed up, nothing is kept',
  async () => {
    const keys = Array.from({ length: CLIENTS }, (_, at) => `lh-client-${at}-0`);
    const known = () => keys.map((key, at) => ({ id: String(at), name: `client ${at}`, digest: digestOf(key) }));
    const { address, model, host } = await startApi({ keys: known });
    // Full long before the second quarter, so that only what is kept by mistake grows.
    const page = connect(host);
    await page.call('settings.set', { promptCacheMB: CACHE_MB });
    const right = new Map<number, string>();
    for (let number = 0; number < 40; number++)
      right.set(number, whole((await ask(address, keys[0] ?? '', question(model, number))).text) ?? '');
    const counts: Record<string, number> = { streamed: 0, whole: 0, 'hung up': 0, refused: 0, 'keys changed': 0 };
    const until = performance.now() + SECONDS * 1000;
    const memory: Memory[] = [];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    async function client(at: number) {
      for (let turn = 1; performance.now() < until; turn++) {
        const [number, key] = [random(40), keys[at] ?? ''];
        const action = random(10);
        if (action < 4) {
          const { status, text, whole: ended } = await ask(address, key, question(model, number, { stream: true }));
          expect([status, ended, streamed(text)]).toEqual([200, true, right.get(number)]);
          expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
          counts.streamed = (counts.streamed ?? 0) + 1;
        } else if (action < 6) {
          const { status, text } = await ask(address, key, question(model, number));
          expect([status, whole(text)]).toEqual([200, right.get(number)]);
          counts.whole = (counts.whole ?? 0) + 1;
        } else if (action < 8) {
          const { text } = await ask(
            address,
            key,
            question(model, number, { stream: true, max_tokens: 500 }),
            1 + random(3),
          );
          expect(
            (right.get(number) ?? '').startsWith(streamed(text.slice(0, text.lastIndexOf('\n\n') + 1)).slice(0, 3)),
          ).toBe(true);
          counts['hung up'] = (counts['hung up'] ?? 0) + 1;
        } else if (action === 8) {
          const { status } = await ask(address, key, NONSENSE[random(NONSENSE.length)] ?? '');
          expect([400, 404]).toContain(status);
          counts.refused = (counts.refused ?? 0) + 1;
        } else {
          keys[at] = `lh-client-${at}-${turn}`;
          expect([401, 429]).toContain((await ask(address, key, question(model, number))).status);
          counts['keys changed'] = (counts['keys changed'] ?? 0) + 1;
        }
      }
    }
    const sample = setInterval(() => memory.push(used()), Math.max(1000, SECONDS * 20));
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
    clearInterval(sample);
    // The least of the second quarter, and of the last: between them collectors come and go.
    const quarter = Math.ceil(memory.length / 4);
    const least = (some: Memory[]): Memory => ({
      all: Math.min(...some.map(({ all }) => all)),
      here: Math.min(...some.map(({ here }) => here)),
    });
    const warm = least(memory.slice(quarter, 2 * quarter));
    const last = least(memory.slice(-quarter));
    const cached = (await page.call('engine.promptCache'))?.bytes ?? 0;
    const said = ({ all, here }: Memory) => `${Math.round(all / MIB)} MB (core ${Math.round(here / MIB)} MB)`;
    console.log(
      `${SECONDS} s: ${JSON.stringify(counts)}, memory ${said(warm)}, in the end ${said(last)}, prompt cache ${Math.round(cached / MIB)} MB`,
    );
    for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0);
    if (soaking) expect(last.all - warm.all).toBeLessThan(MAX_GROWTH);
  },
  SECONDS * 1000 + 120_000,
);
