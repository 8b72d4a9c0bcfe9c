import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client, TurnEvent } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { isEnd, listen, newFolder, next, readMessage, startCore, textOf } from '../../support/core/core.ts';
import { startElectronCore } from '../../support/core/electron-core.ts';
import { buildBundle, bundle, isAlive, killableEngine, source, startHost } from '../../support/core/kills.ts';
import { soaking } from '../../support/soak.ts';

//  Engine, host and the core of the desktop app killed at random moments while an answer streams, as they lie in the source
//  and as they are bundled; twenty times each in npm run test:soak.

const question = 'Tell me a long story about a fox, a river and an old mill.';
/** So hot that the end of the answer is as likely as any other of 8192 tokens. */
const endless = { temperature: 5, topK: 0, topP: 1, minP: 0, maxTokens: 4000 };
const randomMs = () => 30 + Math.random() * 600;
/** What may be lost of what was shown. */
const LOST_MS = 250;

async function ask(client: Client) {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, sampling: endless });
  const sent = await client.call('turns.send', { chatId: chat.id, text: question });
  return { chatId: chat.id, ...sent };
}

const shells = [
  ['the host', startHost],
  ['the core of the desktop app', startElectronCore],
] as const;

describe.each([source, bundle])('from the $name', (build) => {
  const kills = soaking ? 20 : build === source ? 2 : 1;
  beforeAll(() => {
    if (build === bundle) buildBundle();
  }, 300_000);

  test('the engine is killed: the text stays, one failure, it comes back by itself and the answer goes on', async () => {
    const engine = killableEngine(build);
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
      expect(kept.state).toMatchObject({ status: 'failed' });
      expect(kept.usage?.answerTokens).toBeGreaterThan(0);

      await next(client, 'engine.status', (status) => status.phase === 'ready');
      await client.call('chats.update', { chatId: sent.chatId, sampling: { ...endless, maxTokens: 5 } });
      const more = await client.call('turns.continue', { messageId: sent.messageId });
      expect(await heard.end(more.turnId)).toMatchObject({ type: 'finished', reason: 'length' });
      const whole = await readMessage(client, sent.chatId, sent.messageId);
      expect(whole.text).toBe(shown + textOf(heard.of(more.turnId), 'answer'));
      expect(heard.of(sent.turnId).filter(isEnd)).toHaveLength(1);
      // Three ends in five minutes are the last: the user says to go on.
      await client.call('engine.restart');
      await next(client, 'engine.status', (status) => status.phase === 'ready');
    }
  }, 900_000);

  test.each(shells)(
    '%s is killed: at most 250 ms are lost, the database is sound, no engine is left over',
    async (_, start) => {
      const folder = newFolder();
      let ownEnds = 0;
      for (let i = 0; i < kills; ) {
        const app = await start(folder, build);
        const { client } = app;
        const arrivals: { at: number; event: TurnEvent }[] = [];
        client.on('turn', ({ event }) => arrivals.push({ at: performance.now(), event }));
        const sent = await ask(client);
        await next(client, 'turn', ({ event }) => event.type === 'delta');
        await wait(randomMs());
        const engines = app.engines();
        expect(engines.length).toBeGreaterThan(0);
        await app.kill();

        const db = openDatabase(`${folder}/longhand.db`);
        expect(db.get('SELECT integrity_check AS found FROM pragma_integrity_check')?.found).toBe('ok');
        db.close();
        for (let tries = 0; engines.some(isAlive) && tries < 100; tries++) await wait(20);
        expect(engines.filter(isAlive)).toEqual([]);

        const again = await start(folder, build);
        const { client: after } = again;
        const kept = await readMessage(after, sent.chatId, sent.messageId);
        // One that came to its own end before it could be killed does not count: its last word may not have been heard here.
        if (kept.state.status === 'done' && ownEnds < kills + 2) {
          ownEnds++;
          await again.kill();
          continue;
        }
        i++;
        expect(kept.state).toMatchObject({ status: 'failed', failure: { code: 'engine-lost' } });
        // A machine that is too busy to run the host at all shows nothing meanwhile: counted is from what was shown last.
        const lastShown = arrivals.findLast(({ event }) => event.type === 'delta')?.at ?? 0;
        const due = textOf(
          arrivals.filter(({ at }) => at <= lastShown - LOST_MS).map(({ event }) => event),
          'answer',
        );
        expect(kept.text.length).toBeGreaterThanOrEqual(due.length);
        expect(kept.text.startsWith(due)).toBe(true);
        await again.kill();
      }
    },
    900_000,
  );
});
