import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Client, TurnEvent } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database.ts';
import { openSocket } from '../../support/browser.ts';
import { isEnd, listen, newFolder, next, readMessage, startCore, textOf } from '../../support/core.ts';
import { isAlive, killableEngine, startApp } from '../../support/kills.ts';

//  Processes killed at random moments while an answer streams; twenty times each in npm run test:soak.

const kills = process.env.LONGHAND_SOAK ? 20 : 2;
const question = 'Tell me a long story about a fox, a river and an old mill.';
/** So hot that the end of the answer is as likely as any other of 8192 tokens. */
const endless = { temperature: 5, topK: 0, topP: 1, minP: 0, maxTokens: 4000 };
const randomMs = () => 30 + Math.random() * 600;

async function ask(client: Client) {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, sampling: endless });
  const sent = await client.call('turns.send', { chatId: chat.id, text: question });
  return { chatId: chat.id, ...sent };
}

test('the engine is killed: the text stays, one failure, it comes back by itself and the answer goes on', async () => {
  const engine = killableEngine();
  const { client } = await startCore({ startEngine: engine.startEngine });
  const heard = listen(client);
  for (let i = 0; i < kills; ) {
    const sent = await ask(client);
    await next(client, 'turn', ({ event }) => event.type === 'delta');
    await wait(randomMs());
    // One that came to its own end before it could be killed does not count.
    if (heard.of(sent.turnId).some(isEnd)) continue;
    i++;
    engine.kill();
    const end = await heard.end(sent.turnId);
    expect(end).toMatchObject({ type: 'failed', failure: { code: 'engine-lost' } });
    const shown = textOf(heard.of(sent.turnId), 'answer');
    const kept = await readMessage(client, sent.chatId, sent.messageId);
    expect(kept.text).toBe(shown);
    expect(kept.state).toMatchObject({ at: 'failed' });
    expect(kept.usage?.answerTokens).toBeGreaterThan(0);

    await next(client, 'engine.status', (status) => status.at === 'ready');
    await client.call('chats.update', { chatId: sent.chatId, sampling: { ...endless, maxTokens: 5 } });
    const more = await client.call('turns.resume', { messageId: sent.messageId });
    expect(await heard.end(more.turnId)).toMatchObject({ type: 'finished', reason: 'length' });
    const whole = await readMessage(client, sent.chatId, sent.messageId);
    expect(whole.text).toBe(shown + textOf(heard.of(more.turnId), 'answer'));
    expect(heard.of(sent.turnId).filter(isEnd)).toHaveLength(1);
    // Three ends in five minutes are the last: the user says to go on.
    await client.call('engine.restart');
    await next(client, 'engine.status', (status) => status.at === 'ready');
  }
}, 900_000);

test('the host is killed: at most a quarter of a second is lost, the database is sound, no engine is left over', async () => {
  const folder = newFolder();
  for (let i = 0; i < kills; ) {
    const app = await startApp(folder);
    const { client } = await openSocket(app.address);
    const arrivals: { at: number; event: TurnEvent }[] = [];
    client.on('turn', ({ event }) => arrivals.push({ at: performance.now(), event }));
    const sent = await ask(client);
    await next(client, 'turn', ({ event }) => event.type === 'delta');
    await wait(randomMs());
    if (arrivals.some(({ event }) => isEnd(event))) {
      await app.kill();
      continue;
    }
    i++;
    const engines = app.engines();
    expect(engines.length).toBeGreaterThan(0);
    const killedAt = performance.now();
    await app.kill();

    const db = openDatabase(`${folder}/longhand.db`);
    expect(db.get('SELECT integrity_check AS found FROM pragma_integrity_check')?.found).toBe('ok');
    db.close();
    for (let tries = 0; engines.some(isAlive) && tries < 100; tries++) await wait(20);
    expect(engines.filter(isAlive)).toEqual([]);

    const again = await startApp(folder);
    const { client: after } = await openSocket(again.address);
    const kept = await readMessage(after, sent.chatId, sent.messageId);
    expect(kept.state).toMatchObject({ at: 'failed', failure: { code: 'engine-lost' } });
    const before = (ms: number) =>
      textOf(
        arrivals.filter(({ at }) => at <= killedAt - ms).map(({ event }) => event),
        'answer',
      );
    // 250 ms, and what a machine under load needs to write them.
    expect(kept.text.length).toBeGreaterThanOrEqual(before(500).length);
    expect(kept.text.startsWith(before(500))).toBe(true);
    await again.kill();
  }
}, 900_000);
