import { expect, onTestFinished, test } from 'vitest';
import type { PromptMessage } from '../../../app/engine/ipc-protocol.ts';
import { loadModel } from '../../../app/engine/process/model/loaded-model.ts';
import { createPictureReader } from '../../../app/engine/process/prompt/picture-reader.ts';
import { promptIds } from '../../../app/engine/process/prompt/prompt-tokens.ts';
import { readBack } from '../../../app/engine/process/prompt/read-back.ts';
import type { ChatId, Client, ModelId, TurnId, Usage } from '../../../app/protocol/index.ts';
import { createTemplateRenderer } from '../../../app/text/jinja/template-renderer.ts';
import { addon } from '../../support/addon.ts';
import { listen, places, startCore } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

//  What was read once is known to every chat, and an answer says what of its prompt was read again and why.

const told = (role: PromptMessage['role'], text: string, ids: number[] | null = null): PromptMessage => ({
  role,
  text,
  thinking: '',
  ids,
});

async function chats() {
  const { client } = await startCore();
  const { end } = listen(client);
  const open = async (): Promise<ChatId> => {
    const chat = await client.call('chats.create', { modelId: 'starter' as ModelId });
    await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 6, temperature: 0 } });
    return chat.id;
  };
  const usageOf = async (turnId: TurnId | null): Promise<Usage> => {
    const event = await end(turnId);
    if (event.type !== 'finished') throw new Error(`it ended with ${JSON.stringify(event)}`);
    return event.usage;
  };
  const ask = async (chatId: ChatId, text: string) =>
    usageOf((await client.call('turns.send', { chatId, text })).turnId);
  return { client, open, ask, usageOf };
}

const story = (about: string) => Array.from({ length: 12 }, (_, i) => `${about} walks ${i} miles and rests.`).join(' ');

async function lastAnswer(client: Client, chatId: ChatId) {
  const { messages } = await client.call('chats.get', { chatId });
  const answer = messages.findLast(({ role }) => role === 'assistant');
  if (!answer) throw new Error('nothing was answered');
  return answer.id;
}

test('back in the first chat, only the new message is read, and asked again nothing is', async () => {
  const { client, open, ask, usageOf } = await chats();
  await client.call('settings.set', { autoTitle: false });
  const [one, other] = [await open(), await open()];
  const first = await ask(one, story('A fox'));
  expect(first.cachedTokens).toBe(0);
  await ask(other, story('A hare'));
  const back = await ask(one, 'And then?');
  // Everything in front of the first answer; of the answer itself as much as was read back by now.
  expect(back.cachedTokens).toBeGreaterThan(first.promptTokens - 16);
  await ask(other, 'And then?');
  const retried = await client.call('turns.regenerate', { messageId: await lastAnswer(client, one) });
  const again = await usageOf(retried.turnId);
  expect(again.promptTokens - again.cachedTokens).toBeLessThanOrEqual(12); // what opens an answer
  expect(again.miss?.tokens ?? 0).toBeLessThanOrEqual(12);
});

test('cleared, everything is read again: also what a timeline still held', async () => {
  const { client, open, ask } = await chats();
  await client.call('settings.set', { autoTitle: false });
  const chat = await open();
  await ask(chat, story('A fox'));
  expect((await client.call('engine.promptCache'))?.bytes).toBeGreaterThan(0);
  await client.call('engine.clearPromptCache');
  expect((await ask(chat, 'And then?')).cachedTokens).toBe(0);
});

test('with no room nothing is kept', async () => {
  const { client, open, ask } = await chats();
  await client.call('settings.set', { autoTitle: false, promptCacheMB: 0 });
  await ask(await open(), story('A hare'));
  expect(await client.call('engine.promptCache')).toMatchObject({ bytes: 0, budgetBytes: 0, diskBytes: 0 });
});

test('an answer is read back as the next turn wants it', async () => {
  const target = {
    modelId: 'starter' as ModelId,
    path: starter,
    device: 'cpu',
    threads: null,
    contextLength: 2048,
    kvType: 'f16' as const,
    template: null,
    packed: null,
    cacheBytes: 2 ** 28,
    cacheDisk: null,
  };
  const model = await loadModel(
    addon,
    target,
    'cpu',
    new addon.AbortFlag(),
    () => {},
    () => {},
  );
  const renderer = createTemplateRenderer({ worker: places.worker });
  const pictures = createPictureReader(places.pictureWorker);
  onTestFinished(async () => {
    model.close();
    await renderer.close();
    await pictures.close();
  });
  const messages = [told('system', 'You are brief.'), told('user', story('A fox'))];
  const ask = async (all: PromptMessage[]) => {
    const { ids } = await promptIds(model.text, renderer, { messages: all, thinking: false, continuation: null });
    const session = model.sessions('chat').take('');
    const stopTokens = [...model.text.stopIds];
    const result = await session.generate(Int32Array.from(ids), { maxTokens: 20, stopTokens });
    model.sessions('chat').giveBack(session);
    return { ids, result };
  };
  const { result } = await ask(messages);
  const tokens = result.tokens.filter((id) => !model.text.stopIds.includes(id));
  const answer = told('assistant', model.text.decode(tokens), tokens);

  const stopped = new addon.AbortFlag();
  stopped.set();
  const prompt = { messages, thinking: false, continuation: null };
  expect(await readBack(model, { renderer, pictures }, { prompt, chatId: null }, answer, stopped)).toBe(false);
  expect(await readBack(model, { renderer, pictures }, { prompt, chatId: null }, answer, new addon.AbortFlag())).toBe(
    true,
  );

  const next = [...messages, answer, told('user', 'And then?')];
  const { ids, result: after } = await ask(next);
  // The ends of the system prompt, the first question, its answer and the second question.
  const ends = ids.flatMap((id, at) => (model.text.stopIds.includes(id) ? [at + 1] : []));
  expect(after.timings.cachedTokens).toBe(ends.at(-2));
  expect(after.reuse.reason).toBe('nothing');
});
