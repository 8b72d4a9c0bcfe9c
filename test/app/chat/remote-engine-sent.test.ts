// What a remote engine is sent besides words: pictures as copies, and a key that lies sealed on this computer.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { ChatId, Client } from '../../../app/protocol/index.ts';
import { listen, newFolder, startCore } from '../../support/core/core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { addEngine, foreignEngine, stream } from '../../support/fakes/foreign-engine.ts';

const SECRET = 'sk-lab-0123456789-very-secret';
const { startEngine } = scriptedEngine(() => 'here');
const lab = () => foreignEngine((response) => stream(response, [{ content: 'ok' }]));

async function ask(client: Client, chatId: ChatId, attachments: string[] = []) {
  const turns = listen(client);
  const { turnId } = await client.call('turns.send', {
    chatId,
    text: 'What is this?',
    attachments: attachments as never,
  });
  return turns.end(turnId);
}

test('a picture is sent as a copy without where it was taken, and only to a model that is said to see', async () => {
  const file = join(newFolder(), 'holiday.jpg');
  const drawn = sharp({ create: { width: 3000, height: 1500, channels: 3, background: '#357' } });
  const exif = {
    IFD0: { Make: 'Acme', Copyright: 'Ada' },
    IFD3: { GPSLatitude: '52/1 31/1 12/1', GPSLatitudeRef: 'N' },
  };
  writeFileSync(file, await drawn.withExif(exif).jpeg().toBuffer());
  expect(readFileSync(file).includes('Acme')).toBe(true);

  const engine = await lab();
  const { client } = await startCore({ startEngine });
  const { model } = await addEngine(client, engine.address);
  const send = async () => {
    const chat = await client.call('chats.create', { modelId: model.id });
    const { id } = await client.call('attachments.add', { chatId: chat.id, path: file, name: 'holiday.jpg' });
    expect(await ask(client, chat.id, [id])).toMatchObject({ type: 'finished' });
    return engine.asked.findLast(({ path }) => path.endsWith('/chat/completions'))?.body.messages?.at(-1)?.content;
  };
  expect(await send()).toBe('(A picture, holiday.jpg, which you cannot see.)\n\nWhat is this?');

  await client.call('remoteEngines.setPictures', { modelId: model.id, pictures: true });
  const content = (await send()) as { type: string; text?: string; image_url?: { url: string } }[];
  expect(content.find(({ type }) => type === 'text')?.text).toBe('What is this?');
  const [kind, base64 = ''] = content.find(({ type }) => type === 'image_url')?.image_url?.url.split(',') ?? [];
  expect(kind).toBe('data:image/jpeg;base64');
  const sent = Buffer.from(base64, 'base64');
  const { width, height, exif: said } = await sharp(sent).metadata();
  expect([width, height, said]).toEqual([1568, 784, undefined]);
  expect(sent.includes('Acme')).toBe(false);
});

test('what may fit by an estimate is sent, what surely does not is refused before anything is stored', async () => {
  const engine = await foreignEngine(
    (response) => stream(response, [{ content: 'ok' }]),
    [{ id: 'lab/model-7b', max_model_len: 2000 }],
  );
  const { client } = await startCore({ startEngine });
  const { model } = await addEngine(client, engine.address);
  const chat = await client.call('chats.create', { modelId: model.id });
  const turns = listen(client);
  const of = (text: string) => client.call('context.measure', { chatId: chat.id, draft: text });
  const long = async (tokens: number) => {
    const { used, draft } = await of('word '.repeat(1000));
    return 'word '.repeat(Math.round((1000 * (tokens - used)) / draft));
  };
  expect((await of('')).limit).toBe(2000);
  const refused = client.call('turns.send', { chatId: chat.id, text: await long(2000 * 1.35) });
  await expect(refused).rejects.toMatchObject({ code: 'context-full' });
  expect((await client.call('chats.get', { chatId: chat.id })).messages).toEqual([]);
  const { turnId } = await client.call('turns.send', { chatId: chat.id, text: await long(2000 * 1.25) });
  expect(await turns.end(turnId)).toMatchObject({ type: 'finished' });
});

test('with a keychain the key and secrets of tool servers lie sealed; one that gives nothing back is a sentence', async () => {
  const xor = (text: Buffer) => Buffer.from(text.map((byte) => byte ^ 0x5a));
  const cipher = {
    seal: async (text: string) => xor(Buffer.from(text)).toString('base64'),
    open: async (sealed: string) => xor(Buffer.from(sealed, 'base64')).toString(),
  };
  const engine = await lab();
  const first = await startCore({ startEngine, cipher });
  const { model } = await addEngine(first.client, engine.address, SECRET);
  const config = { command: process.execPath, args: ['-e', ''], env: { TOKEN: SECRET } };
  await first.client.call('mcp.add', { servers: [{ name: 'notes', config }] });
  const chat = await first.client.call('chats.create', { modelId: model.id });
  expect(await ask(first.client, chat.id)).toMatchObject({ type: 'finished' });
  expect(engine.asked.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
  await first.host.close();
  const { dataFolder } = first;
  for (const file of readdirSync(dataFolder, { recursive: true, withFileTypes: true }))
    if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name)).includes(SECRET), file.name).toBe(false);

  // Another computer, or another user's keychain.
  const locked = { ...cipher, open: () => Promise.reject(new Error('locked')) };
  const { client } = await startCore({ startEngine, dataFolder, cipher: locked });
  const before = engine.asked.length;
  const end = await ask(client, chat.id);
  expect(end).toMatchObject({ type: 'failed', failure: { details: { reason: 'engine-key' } } });
  expect(engine.asked).toHaveLength(before);
});
