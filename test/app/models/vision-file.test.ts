import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Client, type ModelId, ModelSettings } from '../../../app/protocol/index.ts';
import { isEnd, newFolder, next, readMessage, startCore } from '../../support/core/core.ts';
import { makeSeeingGguf, pictureFiles } from '../../support/models/seeing-model.ts';

//  The vision tower of a GGUF model that does not lie beside it: chosen, kept, and used; what is none is refused.

vi.setConfig({ testTimeout: 60_000 });

/** A GGUF model whose tower lies elsewhere, under a name that says nothing. */
async function blindModel() {
  const started = await startCore();
  const { client } = started;
  await client.call('settings.set', { autoTitle: false, sampling: { maxTokens: 6, temperature: 0 } });
  const path = makeSeeingGguf(newFolder());
  const beside = join(dirname(path), 'mmproj-F32.gguf');
  const tower = join(newFolder(), 'eyes.gguf');
  renameSync(beside, tower);
  const model = await client.call('models.import', { path });
  return { ...started, model, path, tower, beside };
}

const choose = (client: Client, modelId: ModelId, vision: string | null) =>
  client.call('models.configure', { modelId, settings: ModelSettings.parse({ vision }) });

async function answerTo(client: Client, modelId: ModelId, picture: string) {
  const { id: chatId } = await client.call('chats.create', { modelId });
  const { id, tokens } = await client.call('attachments.add', { chatId, path: pictureFiles(picture), name: picture });
  const over = next(client, 'turn', ({ event }) => isEnd(event));
  const { messageId } = await client.call('turns.send', { chatId, text: 'Which?', attachments: [id] });
  const { event } = await over;
  return { event, tokens, text: (await readMessage(client, chatId, messageId)).text };
}

test('a chosen file lets a loaded model see, as the one beside it does, and stays chosen', async () => {
  const { client, host, dataFolder, model, path, tower, beside } = await blindModel();
  expect(model.description?.vision).toBeNull();
  await client.call('models.load', { modelId: model.id });
  const seeing = await choose(client, model.id, tower);
  expect(seeing.description?.vision).toEqual({ token: 197, merge: 2 });
  expect(seeing.description?.weightBytes).toBeGreaterThan(model.description?.weightBytes ?? 0);
  const [one, other] = [await answerTo(client, model.id, 'rgb.png'), await answerTo(client, model.id, 'lossy.webp')];
  expect(one.event).toMatchObject({ type: 'finished' });
  // Counted with the new file, though the model was loaded without it.
  expect(one.tokens).toBe(54);
  expect(other.text).not.toBe(one.text);
  await host.close();

  const again = await startCore({ dataFolder });
  expect((await answerTo(again.client, model.id, 'rgb.png')).text).toBe(one.text);
  // Importing it again does not lose the choice.
  expect((await again.client.call('models.import', { path })).description?.vision).toEqual({ token: 197, merge: 2 });
  const cleared = await choose(again.client, model.id, null);
  expect(cleared.description?.vision).toBeNull();

  renameSync(tower, beside);
  expect((await choose(again.client, model.id, beside)).description?.vision).toEqual({ token: 197, merge: 2 });
  expect((await answerTo(again.client, model.id, 'rgb.png')).text).toBe(one.text);
});

test('what is no vision tower of this model is refused with a reason, and nothing changes', async () => {
  const { client, model, path, tower } = await blindModel();
  await choose(client, model.id, tower);
  const folder = newFolder();
  const file = (name: string, bytes: string | Uint8Array) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  mkdirSync(join(folder, 'towers'));
  const why = async (vision: string) => {
    const error = await choose(client, model.id, vision).catch((caught) => caught);
    return [error.code, error.details?.reason];
  };
  expect(await why(path)).toEqual(['unreadable', 'other-vision']);
  expect(await why(file('letter.gguf', 'Dear Maren,'))).toEqual(['unreadable', 'other-vision']);
  expect(await why(file('empty.gguf', ''))).toEqual(['unreadable', 'other-vision']);
  expect(await why(join(folder, 'towers'))).toEqual(['unreadable', 'other-vision']);
  expect(await why(join(folder, 'gone.gguf'))).toEqual(['not-found', 'no-file']);
  expect(await why('eyes.gguf')).toEqual(['bad-request', 'no-path']);
  // A model that has no eyes at all.
  const blind = (await client.call('models.list')).find(({ builtIn }) => builtIn)?.id as ModelId;
  const refused = await choose(client, blind, tower).catch((caught) => caught);
  expect([refused.code, refused.details?.reason]).toEqual(['unreadable', 'other-vision']);
  const kept = (await client.call('models.list')).find(({ id }) => id === model.id);
  expect(kept).toMatchObject({ settings: { vision: tower }, description: { vision: { token: 197 } } });
});

test('a chosen file that is gone is named when the model is loaded', async () => {
  const { client, model, tower } = await blindModel();
  await choose(client, model.id, tower);
  rmSync(tower);
  const error = await client.call('models.load', { modelId: model.id }).catch((caught) => caught);
  expect([error.code, error.details?.reason]).toEqual(['model-missing', 'vision-gone']);
  expect(error.message).toContain(tower);
  await choose(client, model.id, null);
  await client.call('models.load', { modelId: model.id });
});
