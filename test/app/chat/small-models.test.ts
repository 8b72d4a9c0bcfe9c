import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { withoutTheApp } from '../../../app/chat/turns/about-longhand.ts';
import { quotedAnswer } from '../../../app/chat/turns/quoted-answer.ts';
import {
  type Client,
  type CollectionId,
  type Grounding,
  type ModelId,
  quotedIn,
  quoteStandsAlone,
  type Source,
  STARTER,
} from '../../../app/protocol/index.ts';
import { listen, newFolder, next, places, readMessage, startCore } from '../../support/core/core.ts';
import { realModel } from '../../support/models/real-models.mjs';

vi.setConfig({ testTimeout: 120_000 });

const short = { temperature: 0, maxTokens: 8 };

async function chatWith(client: Client, modelId: ModelId | null, collectionIds: CollectionId[] = []) {
  const heard = listen(client);
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId, collectionIds, sampling: short });
  if (modelId) await client.call('chats.update', { chatId, modelId });
  return async (text: string) => {
    const sent = await client.call('turns.send', { chatId, text });
    await heard.end(sent.turnId);
    const asked = heard.of(sent.turnId).some(({ type }) => type === 'started');
    return { asked, message: await readMessage(client, chatId, sent.messageId) };
  };
}

async function leaseIn(client: Client) {
  const path = join(newFolder(), 'lease.md');
  writeFileSync(path, '# Lease\n\nThe flat has three rooms.\n\nThe monthly rent is 840 euros.\n\nPets are allowed.\n');
  const { id } = await client.call('documents.createCollection', { name: 'Papers' });
  const ready = next(
    client,
    'document.changed',
    ({ fileName, state }) => fileName === 'lease.md' && state.status === 'ready',
  );
  await client.call('documents.add', { collectionId: id, files: [{ path, name: 'lease.md' }] });
  await ready;
  return id;
}

const manualIsRead = (client: Client) =>
  vi.waitFor(
    async () => {
      const about = (await client.call('documents.collections')).find(({ builtIn }) => builtIn);
      const pages = about ? await client.call('documents.list', { collectionId: about.id }) : [];
      expect(pages.filter(({ state }) => state.status === 'ready')).toHaveLength(
        readdirSync(join(places.resources, 'help')).filter((name) => name.endsWith('.md')).length,
      );
    },
    { timeout: 60_000, interval: 100 },
  );

test('a model of 135 million parameters is not asked for what a sentence says: the sentence is the answer', async () => {
  const { client } = await startCore();
  const smollm2 = await client.call('models.import', { path: await realModel('smollm2') });
  const ask = await chatWith(client, smollm2.id, [await leaseIn(client)]);
  const { asked, message } = await ask('How high is the monthly rent?');
  expect(message.text).toBe('The monthly rent is 840 euros. [1]');
  expect(quoteStandsAlone(message)).toBe('quoted');
  expect(message.grounding?.sources[0]).toMatchObject({ cited: true });
  expect(asked).toBe(false);
  // A summary is no sentence of the document.
  const summary = await ask('Summarise this document.');
  expect(summary.asked).toBe(true);
  // "Answer from this" wants it written.
  const heard = listen(client);
  const written = await client.call('turns.regenerate', { messageId: message.id, documents: 'closest' });
  await heard.end(written.turnId);
  expect(heard.of(written.turnId).some(({ type }) => type === 'started')).toBe(true);
});

test('what is asked about Longhand is answered from its manual in a chat without documents, other things by the model', async () => {
  const { client } = await startCore();
  await manualIsRead(client);
  const ask = await chatWith(client, null);
  const about = await ask('What is a token in Longhand?');
  expect(about.message.grounding).toMatchObject({ found: true, question: 'What is a token?' });
  const manual = (await client.call('documents.collections')).find(({ builtIn }) => builtIn);
  expect(new Set(about.message.grounding?.sources.map(({ collectionId }) => collectionId))).toEqual(
    new Set([manual?.id]),
  );
  expect(quotedIn(about.message.grounding)?.text).toContain('token');
  const other = await ask('What is a good name for a cat?');
  expect(other).toMatchObject({ asked: true, message: { grounding: null } });
  const unknown = await ask('Who won the Longhand trophy in 1987?');
  expect(unknown).toMatchObject({ asked: true, message: { grounding: null } });
  // Documents of the chat come before the manual.
  const inLease = await chatWith(client, null, [await leaseIn(client)]);
  const { message } = await inLease('How high is the monthly rent in Longhand?');
  expect(message.grounding?.sources.every(({ name }) => name === 'lease.md' || name === 'Lease')).toBe(true);
});

test.each([
  ['What is a token in Longhand?', 'What is a token?'],
  ['Does Longhand send my chats to a server?', 'Does it send my chats to a server?'],
  ['Where is this app’s data folder?', 'Where is its data folder?'],
  ['What is Longhand?', 'What is Longhand?'],
])('%s is looked up as: %s', (question, looked) => expect(withoutTheApp(question)).toBe(looked));

test.each<[string, ModelId, number, boolean]>([
  ['135 million', 'small' as ModelId, 135e6, true],
  ['300 million', 'middle' as ModelId, 300e6, false],
  ['an unknown number', 'new' as ModelId, 0, false],
  ['9 million, trained on passages', STARTER, 9e6, false],
])('a model of %s: quoted, or asked', (_, modelId, parameters, quoted) => {
  const text = 'The rent is 840 euros.';
  const found: Grounding = {
    question: 'How high is the rent?',
    found: true,
    by: 'words',
    sources: [
      {
        number: 1,
        passageId: 'p' as Source['passageId'],
        documentId: 'd' as Source['documentId'],
        collectionId: 'c' as CollectionId,
        name: 'lease.md',
        location: null,
        text,
        spans: [],
        cited: false,
      },
    ],
    support: [],
    quote: { source: 1, start: 0, end: text.length, location: null },
  };
  const core = { models: { parametersOf: () => parameters } };
  expect(quotedAnswer(core, modelId, found)).toBe(quoted ? `${text} [1]` : null);
});
