import { expect, test } from 'vitest';
import { csvOf } from '../../../app/metrics/csv.ts';
import type { Run } from '../../../app/protocol/index.ts';
import { listen, next, readMessage, startCore } from '../../support/core/core.ts';

const run: Run = {
  id: 1,
  batch: null,
  messageId: null,
  chatId: null,
  at: Date.UTC(2031, 2, 14, 9, 26, 53),
  model: 'Starter, small',
  backEnd: 'cpu',
  engine: '0.1.0',
  promptTokens: 40,
  cachedTokens: 0,
  tokens: 64,
  prefill: 900,
  decode: 41.5,
  firstTokenMs: 52,
  memoryBytes: null,
  disturbed: false,
  curve: [],
};

test('an answer is measured once, with the message it belongs to', async () => {
  const { client } = await startCore();
  const heard = listen(client);
  const chat = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'What is 47 + 85?' });
  await heard.end(sent.turnId);
  const [first, ...others] = await client.call('metrics.runs', {});
  expect(others).toEqual([]);
  const { timings, usage } = await readMessage(client, chat.id, sent.messageId);
  expect(first).toMatchObject({ messageId: sent.messageId, chatId: chat.id, backEnd: 'cpu', model: 'Starter' });
  expect(first?.decode).toBeCloseTo(timings?.tokensPerSecond ?? 0, 6);
  expect(first?.tokens).toBe((usage?.answerTokens ?? 0) + (usage?.thinkingTokens ?? 0));
});

test('of a deleted chat the figures stay, and lead nowhere; they do again once it is back', async () => {
  const { client } = await startCore();
  const heard = listen(client);
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 4 } });
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  await heard.end(sent.turnId);
  const place = async () => (await client.call('metrics.runs', {})).map(({ chatId, messageId }) => [chatId, messageId]);
  expect(await place()).toEqual([[chat.id, sent.messageId]]);
  await client.call('chats.delete', { chatId: chat.id });
  expect(await place()).toEqual([[null, null]]);
  await client.call('chats.restore', { chatId: chat.id });
  expect(await place()).toEqual([[chat.id, sent.messageId]]);
});

test('a benchmark runs five times after a warm-up, tells its progress, and is kept as one batch', async () => {
  const { client } = await startCore();
  const [starter] = await client.call('models.list', undefined);
  const states: string[] = [];
  client.on('benchmark', (state) =>
    states.push(state.status === 'running' ? `${state.done}/${state.total}` : state.status),
  );
  const ended = next(client, 'benchmark', ({ status }) => status !== 'running');
  await client.call('benchmark.start', { modelIds: [starter?.id as never] });
  await expect(client.call('benchmark.start', { modelIds: [starter?.id as never] })).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await ended).toEqual({ status: 'idle' });
  expect(states).toEqual(['0/6', '1/6', '2/6', '3/6', '4/6', '5/6', 'idle']);
  const runs = await client.call('metrics.runs', {});
  expect(runs).toHaveLength(5);
  expect(new Set(runs.map(({ batch }) => batch)).size).toBe(1);
  for (const { prefill, decode, promptTokens, cachedTokens, ...run } of runs) {
    expect(run).toMatchObject({ model: 'Starter', backEnd: 'cpu', memoryBytes: expect.any(Number) });
    expect(prefill).toBeGreaterThan(0);
    expect(decode).toBeGreaterThan(0);
    expect(cachedTokens).toBeLessThan(promptTokens / 4);
  }
});

test('a cancelled benchmark ends at once and keeps what was measured', async () => {
  const { client } = await startCore();
  const [starter] = await client.call('models.list', undefined);
  const ended = next(client, 'benchmark', ({ status }) => status !== 'running');
  await client.call('benchmark.start', { modelIds: [starter?.id as never] });
  await next(client, 'run.added', () => true);
  await client.call('benchmark.cancel', undefined);
  expect(await ended).toEqual({ status: 'idle' });
  expect([1, 2, 3, 4]).toContain((await client.call('metrics.runs', {})).length);
});

test('CSV: one row a run, quoted where it has to be, never a formula', () => {
  const [head, row, formula, end] = csvOf([run, { ...run, model: '=HYPERLINK("x")' }]).split('\r\n');
  expect(head).toBe(
    'id,batch,at,model,backEnd,engine,promptTokens,cachedTokens,tokens,prefill,decode,firstTokenMs,memoryBytes,disturbed',
  );
  expect(row).toBe('1,,2031-03-14T09:26:53.000Z,"Starter, small",cpu,0.1.0,40,0,64,900,41.5,52,,false');
  expect(formula).toContain(`"'=HYPERLINK(""x"")"`);
  expect(end).toBe('');
});
