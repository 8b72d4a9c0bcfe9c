import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChatId, Client, ClientFrame, CoreFrame, ModelId } from '../../../app/protocol/index.ts';
import { createClient, pipePair } from '../../../app/protocol/index.ts';
import { asking, newFolder, startCore } from '../../support/core/core.ts';
import { HEAD } from '../../support/disk-cache.ts';
import { until } from '../../support/until.ts';

//  With a keychain, what was read of a chat is on disk for the next start, and only with the key that the keychain gives.

const story = Array.from({ length: 12 }, (_, i) => `A fox walks ${i} miles and rests.`).join(' ');

/** Remembers what it was given to seal. */
function keychain() {
  const secrets: string[] = [];
  const xor = (text: Buffer) => Buffer.from(text.map((byte) => byte ^ 0x5a));
  const cipher = {
    seal: async (text: string) => {
      secrets.push(text);
      return xor(Buffer.from(text)).toString('base64');
    },
    open: async (sealed: string) => xor(Buffer.from(sealed, 'base64')).toString(),
  };
  return { secrets, cipher };
}
type Cipher = ReturnType<typeof keychain>['cipher'];
const refuses: Cipher = { seal: () => Promise.reject(new Error('no')), open: () => Promise.reject(new Error('no')) };

async function start(dataFolder: string, cipher: Cipher | null) {
  const { host } = await startCore({ dataFolder, ...(cipher && { cipher }) });
  // A client that remembers everything it was sent.
  const client = createClient();
  const [mine, its] = pipePair<ClientFrame, CoreFrame>();
  const received: CoreFrame[] = [];
  mine.onMessage((frame) => void received.push(frame));
  client.attach(mine);
  host.connect(its);
  const ask = asking(client);
  return { client, host, ask, received };
}

async function chatOf(client: Client): Promise<ChatId> {
  const chat = await client.call('chats.create', { modelId: 'starter' as ModelId });
  await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 6, temperature: 0 } });
  return chat.id;
}

const filesIn = (folder: string): string[] =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((path) => statSync(path).isFile());
const entriesOf = (dataFolder: string) => filesIn(join(dataFolder, 'prompts'));
const isWhole = (dataFolder: string) =>
  entriesOf(dataFolder).some((name) => name.endsWith('.rows')) &&
  !entriesOf(dataFolder).some((name) => name.endsWith('.part'));
const isEncrypted = (path: string) => readFileSync(path).readUInt32LE(HEAD.encrypted) === 1;
const contents = (dataFolder: string) =>
  entriesOf(dataFolder).map((path) => [path, readFileSync(path).toString('base64')] as const);
const onDisk = async (client: Client) => (await client.call('engine.promptCache'))?.onDisk;

/** A data folder with an encrypted chat. */
async function withChat(cipher: Cipher) {
  const dataFolder = newFolder();
  const { client, host, ask, received } = await start(dataFolder, cipher);
  await client.call('settings.set', { autoTitle: false, promptCacheOnDisk: true });
  expect(await onDisk(client)).toBe('encrypted');
  const chatId = await chatOf(client);
  const { promptTokens } = await ask(chatId, story);
  await until(async () => isWhole(dataFolder), Boolean);
  await host.close();
  return { dataFolder, chatId, promptTokens, received };
}

test('after a restart a chat goes on from encrypted files; the key is in no other file and reaches no page', {
  timeout: 60_000,
}, async () => {
  const { secrets, cipher } = keychain();
  const { dataFolder, chatId, promptTokens, received } = await withChat(cipher);
  expect(entriesOf(dataFolder).every(isEncrypted)).toBe(true);
  expect(secrets).toHaveLength(1);
  const again = await start(dataFolder, cipher);
  await until(
    () => onDisk(again.client),
    (is) => is === 'encrypted',
  );
  expect((await again.ask(chatId, 'And then?')).cachedTokens).toBeGreaterThan(promptTokens - 16);
  expect(secrets).toHaveLength(1);
  await again.client.call('engine.clearPromptCache');
  expect(entriesOf(dataFolder)).toEqual([]);
  expect(await onDisk(again.client)).toBe('encrypted');
  expect(secrets).toHaveLength(2);
  expect(secrets[1]).not.toBe(secrets[0]);
  await again.client.call('settings.set', { promptCacheOnDisk: false });
  await until(
    async () => existsSync(join(dataFolder, 'prompts.key')),
    (is) => !is,
  );
  await again.host.close();
  const forms = secrets.flatMap((text) => [text, Buffer.from(text, 'base64').toString('hex')]);
  for (const secret of forms) {
    expect(JSON.stringify([...received, ...again.received])).not.toContain(secret);
    for (const path of filesIn(dataFolder)) expect(readFileSync(path).includes(secret), path).toBe(false);
  }
});

test.each([
  ['no keychain', null, 'private'],
  ['a keychain that refuses', refuses, 'locked'],
] as const)(
  '%s: what lies there is not touched, prompts stay in memory, and clearing makes a new start',
  {
    timeout: 60_000,
  },
  async (_name, cipher, after) => {
    const { dataFolder, chatId } = await withChat(keychain().cipher);
    const before = contents(dataFolder);
    const sealed = readFileSync(join(dataFolder, 'prompts.key'), 'utf8');
    const { client, ask } = await start(dataFolder, cipher);
    expect(await onDisk(client)).toBe('locked');
    expect((await ask(chatId, 'And then?')).cachedTokens).toBe(0);
    const other = await chatOf(client);
    await ask(other, `${story} Two.`);
    expect((await ask(other, 'More?')).cachedTokens).toBeGreaterThan(0);
    expect(contents(dataFolder)).toEqual(before);
    expect(readFileSync(join(dataFolder, 'prompts.key'), 'utf8')).toBe(sealed);
    await client.call('engine.clearPromptCache');
    expect(contents(dataFolder)).toEqual([]);
    expect(existsSync(join(dataFolder, 'prompts.key'))).toBe(false);
    expect(await onDisk(client)).toBe(after);
    await ask(await chatOf(client), `${story} Three.`);
    if (after === 'locked') return expect(contents(dataFolder)).toEqual([]);
    await until(async () => isWhole(dataFolder), Boolean);
    expect(entriesOf(dataFolder).some(isEncrypted)).toBe(false);
  },
);

test('without a keychain it is private and plain; with one later, it begins anew', { timeout: 60_000 }, async () => {
  const dataFolder = newFolder();
  const first = await start(dataFolder, null);
  expect(await onDisk(first.client)).not.toBe('private');
  await first.client.call('settings.set', { autoTitle: false, promptCacheOnDisk: true });
  expect(await onDisk(first.client)).toBe('private');
  const chatId = await chatOf(first.client);
  await first.ask(chatId, story);
  await until(async () => isWhole(dataFolder), Boolean);
  expect(entriesOf(dataFolder).some(isEncrypted)).toBe(false);
  expect(entriesOf(dataFolder).every((path) => (statSync(path).mode & 0o777) === 0o600)).toBe(true);
  expect(existsSync(join(dataFolder, 'prompts.key'))).toBe(false);
  await first.host.close();
  const again = await start(dataFolder, keychain().cipher);
  expect(await onDisk(again.client)).toBe('encrypted');
  expect((await again.ask(chatId, 'And then?')).cachedTokens).toBe(0);
  await until(async () => isWhole(dataFolder), Boolean);
  expect(entriesOf(dataFolder).every(isEncrypted)).toBe(true);
});
