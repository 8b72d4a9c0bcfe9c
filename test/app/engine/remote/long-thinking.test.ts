// A remote engine that thinks for long: whether it may go on is asked, and not again at once.
import { expect, test, vi } from 'vitest';
import { listen, readMessage, startCore } from '../../../support/core/core.ts';
import { scriptedEngine } from '../../../support/core/scripted-engine.ts';
import { addEngine, foreignEngine, stream } from '../../../support/fakes/foreign-engine.ts';

vi.setConfig({ testTimeout: 60_000 });

test('who lets it think on is asked again when it has thought twice as long', async () => {
  const lab = await foreignEngine(
    (response) =>
      stream(response, [
        ...Array.from({ length: 700 }, (_, at) => ({ reasoning_content: `hm${at * 7919} ` })),
        { content: 'Four.' },
      ]),
    [{ id: 'lab/model-7b', context_length: 500 }],
  );
  const { client } = await startCore({ startEngine: scriptedEngine(() => 'here').startEngine });
  const { model } = await addEngine(client, lab.address, 'sk-lab-0123456789-very-secret');
  const chat = await client.call('chats.create', { modelId: model.id });
  const turns = listen(client);
  const thought: number[] = [];
  client.on('turn', ({ turnId, event }) => {
    if (event.type !== 'paused') return;
    thought.push(event.thought ?? 0);
    void client.call('turns.decide', { turnId, choice: 'keep-going' });
  });
  const { turnId, messageId } = await client.call('turns.send', { chatId: chat.id, text: '2 + 2?' });
  expect(await turns.end(turnId)).toMatchObject({ type: 'finished' });
  expect((await readMessage(client, chat.id, messageId)).text).toBe('Four.');
  expect(thought).toEqual([250, 500]);
});
