import { expect, test, vi } from 'vitest';
import type { ModelId } from '../../../app/protocol/index.ts';
import { listen, newFolder, startCore } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';

//  A wall clock that jumps: dead battery, time zone change, manual setting. Nothing is lost, and everything keeps working.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('databases');

const now = Date.UTC(2026, 5, 1);
const JUMPS: Readonly<Record<string, number>> = {
  'ten years back': Date.UTC(2016, 5, 1),
  'to the beginning of all clocks': 0,
  'to before it': -1,
  'a day back': now - 86_400_000,
  'an hour on': now + 3_600_000,
  'a week on': now + 7 * 86_400_000,
};

test('chats survive clocks that jump while Longhand runs, and between two starts', async () => {
  for (const [what, then] of Object.entries(JUMPS)) {
    await tally.refused(what, async () => {
      const dataFolder = newFolder();
      let time = now;
      const first = await startCore({ dataFolder, now: () => time });
      const { id: chatId } = await first.client.call('chats.create', { modelId: 'starter' as ModelId });
      await first.client.call('chats.update', { chatId, title: 'Herons', sampling: { maxTokens: 2, temperature: 0 } });
      const { end } = listen(first.client);
      const ask = async () => end((await first.client.call('turns.send', { chatId, text: 'Hello!' })).turnId);
      expect(await ask()).toMatchObject({ type: 'finished' });
      time = then;
      expect(await ask()).toMatchObject({ type: 'finished' });
      await first.client.call('chats.create', {});
      await first.host.close();

      const second = await startCore({ dataFolder, now: () => then });
      const { messages, chat } = await second.client.call('chats.get', { chatId });
      expect(chat.title).toBe('Herons');
      // In the order of writing, whatever the clock showed.
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
      expect(await second.client.call('chats.list', { limit: 10 })).toHaveLength(2);
      await second.host.close();
    });
  }
  tally.settle();
});
