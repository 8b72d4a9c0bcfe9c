import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { builtInEmbedder } from '../../../../app/protocol/index.ts';
import { newFolder, startCore } from '../../../support/core/core.ts';

test('a collection is searched by meaning with what ships with the app, and nothing was installed', async () => {
  const { client } = await startCore();
  const { id: collectionId } = await client.call('documents.createCollection', { name: 'House' });
  const path = join(newFolder(), 'house.md');
  writeFileSync(
    path,
    '# House\n\nThe heating is serviced every autumn.\n\n# Garden\n\nDogs must be kept on a lead near the pond.\n',
  );
  await client.call('documents.add', { collectionId, files: [{ path, name: 'house.md' }] });
  await client.call('documents.setEmbedding', { collectionId, modelId: builtInEmbedder.id });
  const embedding = async () => (await client.call('documents.collections')).find(({ id }) => id === collectionId);
  await expect
    .poll(async () => (await embedding())?.embedding, { timeout: 60_000, interval: 100 })
    .toMatchObject({ name: builtInEmbedder.name, done: 1, total: 1 });
  // No word of the question stands in the document.
  const found = await client.call('documents.search', {
    query: 'may my puppy run free?',
    collectionIds: [collectionId],
  });
  expect(found.by).toBe('words-and-meaning');
  expect(found.hits).toHaveLength(1);
  await client.call('documents.setEmbedding', { collectionId, modelId: null });
  const without = await client.call('documents.search', {
    query: 'may my puppy run free?',
    collectionIds: [collectionId],
  });
  expect(without).toMatchObject({ by: 'words', hits: [] });
});

test('every collection is searched by meaning from its first document on, the manual, too', async () => {
  vi.stubEnv('LONGHAND_EMBEDDING', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { client } = await startCore();
  const collection = await client.call('documents.createCollection', { name: 'House' });
  expect(collection.embedding).toMatchObject({ modelId: builtInEmbedder.id });
  const manual = async () => (await client.call('documents.collections')).find(({ builtIn }) => builtIn);
  await expect
    .poll(async () => (await manual())?.embedding?.modelId, { timeout: 20_000, interval: 100 })
    .toBe(builtInEmbedder.id);
});
