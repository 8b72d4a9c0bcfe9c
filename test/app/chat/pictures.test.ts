import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { AttachmentId, ChatId, Client, ModelId } from '../../../app/protocol/index.ts';
import { isEnd, newFolder, next, readMessage, startCore } from '../../support/core/core.ts';
import { makeSeeingModel, pictureFiles } from '../../support/models/seeing-model.ts';

//  Pictures in chats, over the real core, the real engine and a model that sees.

vi.setConfig({ testTimeout: 60_000 });

async function seeing() {
  const started = await startCore();
  const { client } = started;
  await client.call('settings.set', { autoTitle: false, sampling: { maxTokens: 6, temperature: 0 } });
  const model = await client.call('models.import', { path: makeSeeingModel(newFolder()) });
  const open = async (modelId: ModelId = model.id): Promise<ChatId> =>
    (await client.call('chats.create', { modelId })).id;
  return { ...started, model, open };
}

const attach = (client: Client, chatId: ChatId, name: string) =>
  client.call('attachments.add', { chatId, path: pictureFiles(name), name });

async function send(client: Client, chatId: ChatId, text: string, attachments: AttachmentId[] = []) {
  const over = next(client, 'turn', ({ event }) => isEnd(event));
  const { messageId } = await client.call('turns.send', { chatId, text, attachments });
  const { event } = await over;
  if (event.type !== 'finished') throw new Error(JSON.stringify(event));
  return { ...event, message: await readMessage(client, chatId, messageId) };
}

describe('a picture', () => {
  test('is kept once, shown small, counted, sent and known from then on', async () => {
    const { client, dataFolder, open, model } = await seeing();
    expect(model.description?.vision).toEqual({ token: 197, merge: 2 });
    const chatId = await open();
    const first = await attach(client, chatId, 'rgb.png');
    expect(first).toMatchObject({ name: 'rgb.png', tokens: 54, picture: { width: 300, height: 200 } });
    const turned = await attach(client, chatId, 'exif_6.jpg');
    expect(turned.picture).toEqual({ width: 60, height: 90 });
    await attach(client, chatId, 'rgb.png');
    expect(readdirSync(join(dataFolder, 'pictures'))).toHaveLength(2);

    const { webp } = await client.call('attachments.preview', { attachmentId: turned.id, edge: 64 });
    expect(Buffer.from(webp, 'base64').subarray(8, 12).toString()).toBe('WEBP');

    const asked = { chatId, draft: 'Which?' };
    const without = await client.call('context.measure', { ...asked, attachments: [] });
    const withOne = await client.call('context.measure', { ...asked, attachments: [first.id] });
    expect(withOne.draft - without.draft).toBe(54);

    const answer = await send(client, chatId, 'Which?', [first.id]);
    expect(answer.usage.promptTokens).toBeGreaterThan(54);
    const { messages } = await client.call('chats.get', { chatId });
    expect(messages[0]?.attachments).toMatchObject([{ name: 'rgb.png', picture: { width: 300 } }]);

    const again = await send(client, chatId, 'And why?');
    expect(again.usage.cachedTokens).toBeGreaterThan(54);

    // Another picture, another answer: it is the picture that is read.
    const other = await open();
    const lossy = await attach(client, other, 'lossy.webp');
    const differs = await send(client, other, 'Which?', [lossy.id]);
    expect(differs.message.text).not.toBe(answer.message.text);
  });

  test('goes along with a new version of its message, and a message may be nothing but a picture', async () => {
    const { client, open } = await seeing();
    const chatId = await open();
    const { id } = await attach(client, chatId, 'rgb.png');
    const only = await send(client, chatId, '', [id]);
    expect(only.usage.promptTokens).toBeGreaterThan(54);
    const { messages } = await client.call('chats.get', { chatId });
    const over = next(client, 'turn', ({ event }) => isEnd(event));
    await client.call('turns.editAndResend', { messageId: messages[0]?.id ?? expect.fail(), text: 'And now?' });
    expect((await over).event.type).toBe('finished');
    const all = (await client.call('chats.get', { chatId })).messages.filter(({ role }) => role === 'user');
    expect(all.map(({ attachments }) => attachments.map(({ picture }) => picture?.width))).toEqual([[300], [300]]);
  });

  test('how closely it is looked at is a setting', async () => {
    const { client, open } = await seeing();
    const chatId = await open();
    await client.call('settings.set', { pictureDetail: 'fast' });
    // The checkpoint of the test looks at no more than 64 tokens, whatever is asked.
    const { tokens } = await attach(client, chatId, 'huge.jpg');
    expect(tokens).toBeLessThanOrEqual(64);
  });

  test('a model that sees nothing is told that there is one, and answers', async () => {
    const { client, open } = await seeing();
    const chatId = await open('starter' as ModelId);
    const picture = await attach(client, chatId, 'rgb.png');
    expect(picture.tokens).toBeNull();
    const measured = await client.call('context.measure', { chatId, draft: '', attachments: [picture.id] });
    expect(measured.draft).toBeGreaterThan(5);
    expect(measured.draft).toBeLessThan(40);
    const { message } = await send(client, chatId, 'What do you see?', [picture.id]);
    expect(message.state.status).toBe('done');
  });

  test('what only calls itself one is text or is refused; nothing is left behind', async () => {
    const { client, open, dataFolder } = await seeing();
    const chatId = await open();
    const folder = newFolder();
    writeFileSync(join(folder, 'notes.png'), 'Only words.');
    const notes = await client.call('attachments.add', { chatId, path: join(folder, 'notes.png'), name: 'notes.png' });
    expect(notes).toMatchObject({ picture: null });
    writeFileSync(join(folder, 'broken.txt'), Buffer.from('\x89PNG\r\n\x1a\nand no more', 'latin1'));
    await expect(
      client.call('attachments.add', { chatId, path: join(folder, 'broken.txt'), name: 'broken.txt' }),
    ).rejects.toMatchObject({ code: 'unreadable' });
    expect(existsSync(join(dataFolder, 'pictures'))).toBe(false);
    await expect(client.call('attachments.preview', { attachmentId: notes.id, edge: 64 })).rejects.toMatchObject({
      code: 'not-found',
    });
    await expect(client.call('attachments.text', { attachmentId: notes.id })).resolves.toMatchObject({
      text: 'Only words.',
    });
  });

  test('whose file is gone fails with a sentence, not with another picture', async () => {
    const { client, open, dataFolder } = await seeing();
    const chatId = await open();
    const { id } = await attach(client, chatId, 'rgb.png');
    const [stored = ''] = readdirSync(join(dataFolder, 'pictures'));
    cpSync(pictureFiles('exact.png'), join(dataFolder, 'pictures', stored));
    const over = next(client, 'turn', ({ event }) => isEnd(event));
    await client.call('turns.send', { chatId, text: 'Which?', attachments: [id] });
    expect((await over).event).toMatchObject({ type: 'failed', failure: { code: 'unreadable' } });
  });

  test('more of them than the context holds are refused before they are sent, however short the question', async () => {
    const { client, open } = await seeing();
    await client.call('settings.set', { contextLength: 2048 });
    const chatId = await open();
    const pictures: AttachmentId[] = [];
    while (pictures.length < 40) {
      // The name is short, since a text may stand for the picture: fewer bytes than the picture has tokens.
      const { id } = await client.call('attachments.add', { chatId, path: pictureFiles('rgb.png'), name: 'a.png' });
      pictures.push(id);
    }
    const sent = client.call('turns.send', { chatId, text: 'Which?', attachments: pictures });
    await expect(sent).rejects.toMatchObject({ code: 'context-full' });
    expect((await client.call('chats.get', { chatId })).messages).toEqual([]);
  });

  test('that no chat shows any more is removed at the next start', async () => {
    const { client, open, dataFolder, host } = await seeing();
    const chatId = await open();
    const kept = await attach(client, chatId, 'rgb.png');
    const gone = await attach(client, chatId, 'odd.png');
    await client.call('attachments.remove', { attachmentId: gone.id });
    await host.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { client: later } = await startCore({ dataFolder });
    await expect.poll(() => readdirSync(join(dataFolder, 'pictures')).length).toBe(1);
    await expect(later.call('attachments.preview', { attachmentId: kept.id, edge: 64 })).resolves.toBeTruthy();
  });
});
