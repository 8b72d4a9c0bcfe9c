import { expect, test } from 'vitest';
import { ENOUGH } from '../../../app/engine/process/generation/loop-recovery.ts';
import type { Client, PauseAction, Settings, TurnEvent } from '../../../app/protocol/index.ts';
import { connect, isEnd, listen, next, readMessage, startCore, textOf } from '../../support/core/core.ts';
import { killableEngine } from '../../support/core/kills.ts';
import { circling, repetitive } from '../../support/models/circling.ts';

//  The starter really looping.

async function ask(
  client: Client,
  {
    thinking = true,
    guard = {} as Partial<Settings['loopGuard']>,
    text = repetitive,
    most = 500,
    seed = undefined as number | undefined,
  } = {},
) {
  const { loopGuard } = await client.call('settings.get', undefined);
  await client.call('settings.set', { loopGuard: { ...loopGuard, waitSeconds: 0, ...guard } });
  const { id } = await client.call('chats.create', {});
  const chat = await client.call('chats.update', {
    chatId: id,
    thinking,
    sampling: { ...circling, seed, maxTokens: most },
  });
  const heard = listen(client);
  const sent = await client.call('turns.send', { chatId: chat.id, text });
  const read = () => readMessage(client, chat.id, sent.messageId);
  const decide = (choice: PauseAction) => client.call('turns.decide', { turnId: sent.turnId as never, choice });
  return { ...sent, chat, heard, read, decide, events: () => heard.of(sent.turnId), end: () => heard.end(sent.turnId) };
}

const paused = (client: Client) => next(client, 'turn', ({ event }) => event.type === 'paused');
const restOf = (client: Client) => next(client, 'turn', ({ event }) => event.type === 'paused' || isEnd(event));
const isPause = (event: TurnEvent) => event.type === 'paused';

test('thinking in circles pauses the turn with its evidence, and the pause is on disk', async () => {
  const { client, host } = await startCore();
  const turn = await ask(client);
  const { event } = await paused(client);
  expect(event).toMatchObject({
    choices: ['answer-now', 'rewind', 'keep-going', 'loop-guard-off'],
    suggested: 'answer-now',
    evidence: { where: 'thinking', kind: 'exact', times: 1 },
  });
  const message = await readMessage(connect(host), turn.chat.id, turn.messageId);
  expect(message.state).toMatchObject({ status: 'paused', turnId: turn.turnId });
  expect(message.loops).toEqual([event.type === 'paused' ? event.evidence : null]);
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  expect(message.thinking.split(evidence?.text ?? '-').length).toBeGreaterThan(evidence?.repeats ?? 0);
  await turn.decide('stop');
  expect(await turn.end()).toMatchObject({ type: 'finished', reason: 'loop' });
});

test('answer now cuts the thinking before its first copy and closes it as the family does; no tag leaks', async () => {
  const { client } = await startCore();
  const turn = await ask(client);
  const { event } = await paused(client);
  const { thinking } = await turn.read();
  await turn.decide('answer-now');
  await restOf(client);
  const after = await turn.read();
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  // The model is made to say that it has thought enough, instead of going on about the loop.
  const [kept = '', last = ''] = after.thinking.split(ENOUGH);
  expect(last.trim()).toBe('');
  expect(after.thinking).toContain(ENOUGH);
  expect(thinking.trim().startsWith(kept.trim())).toBe(true);
  expect(after.thinking.split(evidence?.text.trim() ?? '-').length).toBeLessThan(
    thinking.split(evidence?.text.trim() ?? '-').length,
  );
  expect(after.text).not.toBe('');
  expect(`${after.thinking}${after.text}`).not.toMatch(/think>|<\|/);
});

test('an answer that falls back into the loop of its thinking is stopped at once, and what was settled stands in its place', async () => {
  const { client } = await startCore();
  const turn = await ask(client);
  const { event } = await paused(client);
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  await turn.decide('answer-now');
  // The sampling that made the thinking circle makes the answer circle too.
  expect((await restOf(client)).event).toMatchObject({ type: 'finished', reason: 'loop' });
  const after = await turn.read();
  expect(after.text).toMatch(/^The thinking did not end/);
  expect(after.text).not.toContain(evidence?.text.repeat(2));
  expect(after.usage?.answerTokens).toBeLessThan(200);
  expect(after.loops).toHaveLength(1);
});

test('what a rewind took back does not count against the limit of the answer', async () => {
  const { client } = await startCore();
  const most = 120;
  const turn = await ask(client, { most });
  const { event } = await paused(client);
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  await turn.decide('rewind');
  const { event: ended } = await restOf(client);
  expect(ended).toMatchObject({ type: 'finished', reason: 'length' });
  if (ended.type !== 'finished') return;
  const { thinkingTokens, answerTokens } = ended.usage;
  expect(evidence?.spentTokens).toBeGreaterThan(0);
  expect(thinkingTokens + answerTokens).toBeGreaterThanOrEqual(most + (evidence?.spentTokens ?? 0));
});

test('rewind and retry takes the copies back, on the screen and on the disk, and goes on differently', async () => {
  const { client } = await startCore();
  const turn = await ask(client);
  const { event } = await paused(client);
  const before = (await turn.read()).thinking;
  await turn.decide('rewind');
  await restOf(client);
  const retracted = turn.events().find((one) => one.type === 'retracted');
  expect(retracted).toMatchObject({ kind: 'thinking' });
  const from = retracted?.type === 'retracted' ? retracted.from : 0;
  expect(from).toBeLessThan(before.length);
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  expect(before.slice(from)).toContain((evidence?.text ?? '').repeat(evidence?.repeats ?? 1).trim());
  const after = (await turn.read()).thinking;
  // The state before the first copy was kept: hardly anything is read again.
  const decided = turn.events().findIndex(({ type }) => type === 'decided');
  for (const one of turn.events().slice(decided)) {
    if (one.type === 'progress') expect(one.total - one.cached).toBeLessThanOrEqual(256);
  }
  expect(after.startsWith(before.slice(0, from))).toBe(true);
  expect(after).not.toBe(before);
});

test('keep going writes on and asks again only after twice as many copies', async () => {
  const { client } = await startCore();
  const turn = await ask(client);
  const first = (await paused(client)).event as Extract<TurnEvent, { type: 'paused' }>;
  await turn.decide('keep-going');
  const second = (await restOf(client)).event;
  const { evidence } = first;
  if (isPause(second) && second.type === 'paused') {
    expect(second.evidence?.repeats).toBeGreaterThanOrEqual(2 * (evidence?.repeats ?? 0));
    expect(second.evidence?.times).toBe(2);
  }
  expect((await turn.read()).loops.length).toBe(isPause(second) ? 2 : 1);
});

test('off for this chat writes on, and the chat remembers it', async () => {
  const { client } = await startCore();
  const turn = await ask(client);
  await paused(client);
  await turn.decide('loop-guard-off');
  expect(await turn.end()).toMatchObject({ type: 'finished', reason: 'length' });
  expect(turn.events().filter(isPause)).toHaveLength(1);
  const { chat } = await client.call('chats.get', { chatId: turn.chat.id });
  expect(chat.loopGuard).toBe(false);
});

test('an answer in circles stops with the reason "loop"', async () => {
  const { client } = await startCore();
  const turn = await ask(client, { thinking: false });
  const { event } = await paused(client);
  expect(event).toMatchObject({ suggested: 'stop', evidence: { where: 'answer' } });
  await turn.decide('stop');
  expect(await turn.end()).toMatchObject({ type: 'finished', reason: 'loop' });
});

test('deciding twice, and from two windows, counts once', async () => {
  const { client, host } = await startCore();
  const turn = await ask(client);
  await paused(client);
  const other = connect(host);
  await Promise.all([
    turn.decide('stop'),
    other.call('turns.decide', { turnId: turn.turnId as never, choice: 'rewind' }).catch(() => {}),
  ]);
  await turn.end();
  expect(turn.events().filter(({ type }) => type === 'decided')).toHaveLength(1);
  expect(turn.events().filter(isEnd)).toHaveLength(1);
  await expect(turn.decide('answer-now')).rejects.toMatchObject({ code: 'not-found' });
});

test('the engine ends while a turn waits: the text stays, deciding comes too late, and the answer can be gone on with', {
  timeout: 120_000,
}, async () => {
  const engine = killableEngine();
  const { client } = await startCore({ startEngine: engine.startEngine });
  const turn = await ask(client);
  await paused(client);
  const { thinking } = await turn.read();
  engine.kill();
  expect(await turn.end()).toMatchObject({ type: 'failed', failure: { code: 'engine-lost' } });
  await expect(turn.decide('rewind')).rejects.toMatchObject({ code: 'not-found' });
  const lost = await turn.read();
  expect(lost.thinking).toBe(thinking);
  expect(lost.loops).toHaveLength(1);
  await client.call('chats.update', { chatId: turn.chat.id, loopGuard: false });
  const more = await client.call('turns.continue', { messageId: turn.messageId });
  expect(await turn.heard.end(more.turnId)).toMatchObject({ type: 'finished' });
  const whole = await turn.read();
  expect(whole.thinking.startsWith(thinking)).toBe(true);
  expect(whole.thinking.length + whole.text.length).toBeGreaterThan(thinking.length);
});

test('rewind where no snapshot is left: the text is read again, and that is told', { timeout: 120_000 }, async () => {
  const { client } = await startCore();
  await client.call('settings.set', { promptCacheMB: 0 });
  const turn = await ask(client, { text: `${'The old mill stood by the river. '.repeat(24)}${repetitive}` });
  const { event } = await paused(client);
  const before = (await turn.read()).thinking;
  // Another chat is answered meanwhile: the model has only one timeline.
  const other = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: other.id, sampling: { temperature: 0, maxTokens: 8 } });
  const sent = await client.call('turns.send', { chatId: other.id, text: 'Hello!' });
  await turn.heard.end(sent.turnId);
  await turn.decide('rewind');
  await restOf(client);
  const events = turn.events();
  const decided = events.findIndex(({ type }) => type === 'decided');
  const read = events.slice(decided).findLast((one) => one.type === 'progress');
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  expect(read).toMatchObject({ type: 'progress' });
  if (read?.type !== 'progress') return;
  expect(read.done).toBe(read.total);
  expect(read.total - read.cached).toBeGreaterThan(64);
  const retracted = events.find((one) => one.type === 'retracted');
  const from = retracted?.type === 'retracted' ? retracted.from : 0;
  expect(evidence?.where).toBe('thinking');
  expect((await turn.read()).thinking.startsWith(before.slice(0, from))).toBe(true);
});

test('nobody there: the set action is taken, and rewinding is tried once only', async () => {
  const { client } = await startCore();
  const turn = await ask(client, { guard: { action: 'rewind' } });
  await turn.end();
  const decided = turn.events().flatMap((event) => (event.type === 'decided' ? [event.choice] : []));
  expect(decided[0]).toBe('rewind');
  expect(decided.filter((choice) => choice === 'rewind')).toHaveLength(1);
});

test('nobody answers: after the set time the suggested choice is made; who holds it is waited for', async () => {
  const { client } = await startCore();
  const left = await ask(client, { guard: { waitSeconds: 1 } });
  await paused(client);
  const { event } = await next(client, 'turn', (one) => one.event.type === 'decided');
  expect(event).toMatchObject({ choice: 'answer-now' });
  await client.call('turns.cancel', { turnId: left.turnId as never });
  await left.end();

  const held = await ask(client, { guard: { waitSeconds: 1 } });
  await paused(client);
  await client.call('turns.cancelAutoDecision', { turnId: held.turnId as never });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(held.events().some(({ type }) => type === 'decided')).toBe(false);
  await held.decide('stop');
  await held.end();
});

test('switched off, nothing is watched', async () => {
  const { client } = await startCore();
  const turn = await ask(client, { guard: { sensitivity: 'off' } });
  expect(await turn.end()).toMatchObject({ type: 'finished', reason: 'length' });
  expect(turn.events().some(isPause)).toBe(false);
});

test('a thinking budget in seconds closes the thinking too', { timeout: 120_000 }, async () => {
  const { client } = await startCore();
  await client.call('settings.set', { thinkingBudget: { tokens: null, seconds: 1 }, contextLength: 8192 });
  // Without a budget it thinks until nothing more fits.
  const turn = await ask(client, { guard: { sensitivity: 'off' }, most: 8000 });
  const { event } = await next(client, 'turn', (one) => one.event.type === 'delta' && one.event.kind === 'answer');
  expect(event.type).toBe('delta');
  await client.call('turns.cancel', { turnId: turn.turnId as never });
  await turn.end();
  const message = await turn.read();
  expect(message.timings?.thinkingMs).toBeGreaterThanOrEqual(1000);
  expect(message.usage?.thinkingTokens).toBeLessThan(8000);
  expect(message.text).not.toBe('');
});

test('a thinking budget closes the thinking of a model that never would', async () => {
  const { client } = await startCore();
  await client.call('settings.set', { thinkingBudget: { tokens: 40, seconds: null } });
  const turn = await ask(client, { guard: { sensitivity: 'off' } });
  await turn.end();
  const message = await turn.read();
  expect(message.usage?.thinkingTokens).toBeLessThanOrEqual(44);
  expect(message.text).not.toBe('');
  expect(textOf(turn.events(), 'thinking')).not.toContain('think>');
});

test('a model that stops in the middle of its thinking is made to answer', async () => {
  const { client } = await startCore();
  const answers: string[] = [];
  // With these chances it ends itself soon after the rewind, before it has closed its thinking; and now and then a second time,
  // before the first word of the answer.
  for (const seed of [2, 3, 4, 5]) {
    const turn = await ask(client, { seed });
    await paused(client);
    await turn.decide('rewind');
    await restOf(client);
    const { thinking, text } = await turn.read();
    expect(`${thinking}${text}`).not.toContain('think>');
    answers.push(text);
  }
  expect(answers.join('')).not.toBe('');
});

test('a rewind of an answer whose thinking was closed for it begins at the first copy, to the letter', async () => {
  const { client } = await startCore();
  await client.call('settings.set', { thinkingBudget: { tokens: 12, seconds: null } });
  const turn = await ask(client);
  const { event } = await paused(client);
  const { evidence } = event as Extract<TurnEvent, { type: 'paused' }>;
  expect(evidence?.where).toBe('answer');
  const before = (await turn.read()).text;
  await turn.decide('rewind');
  await restOf(client);
  const retracted = turn.events().find((one) => one.type === 'retracted');
  const from = before.indexOf(evidence?.text.trim() ?? 'nothing');
  expect(retracted).toMatchObject({ kind: 'answer', from: before.slice(0, from).trimEnd().length });
});

/** Thinking that never ends, with nobody looking for loops: half of the context is what it may take. */
async function thinkLong(client: Client, guard: Partial<Settings['loopGuard']> = {}, most = 700) {
  await client.call('settings.set', { contextLength: 512 });
  return ask(client, { guard: { sensitivity: 'off', ...guard }, most });
}

test('thinking that takes unusually long asks, with its tokens, and answers when that is chosen', async () => {
  const { client, host } = await startCore();
  const turn = await thinkLong(client);
  const { event } = await paused(client);
  expect(event).toEqual({
    type: 'paused',
    choices: ['answer-now', 'keep-going', 'stop'],
    suggested: 'answer-now',
    thought: 256,
  });
  const waiting = await readMessage(connect(host), turn.chat.id, turn.messageId);
  expect(waiting.state).toEqual({ status: 'paused', turnId: turn.turnId, thought: 256 });
  expect(waiting.text).toBe('');
  await turn.decide('answer-now');
  await turn.end();
  const after = await turn.read();
  expect(after.text).not.toBe('');
  expect(after.usage?.thinkingTokens).toBeLessThanOrEqual(260);
  expect(after.loops).toEqual([]);
});

test('think longer goes on past what was asked about; stop keeps the text and says who stopped', async () => {
  const { client } = await startCore();
  const turn = await thinkLong(client);
  await paused(client);
  await turn.decide('keep-going');
  await restOf(client);
  expect((await turn.read()).usage?.thinkingTokens ?? 999).toBeGreaterThan(300);
  const other = await thinkLong(client);
  await paused(client);
  await other.decide('stop');
  expect(await other.end()).toMatchObject({ type: 'finished', reason: 'cancelled' });
  expect((await other.read()).thinking).not.toBe('');
});

test('nobody answers how long it may think: after the set time it answers; switched off, nobody is asked', async () => {
  const { client } = await startCore();
  const turn = await thinkLong(client, { waitSeconds: 1 });
  expect((await next(client, 'turn', (one) => one.event.type === 'decided')).event).toMatchObject({
    choice: 'answer-now',
  });
  await turn.end();
  await client.call('settings.set', { askLongThinking: false });
  const silent = await thinkLong(client);
  await silent.end();
  expect(silent.events().some(isPause)).toBe(false);
});
