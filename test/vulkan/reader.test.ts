import { test } from 'vitest';
import { reader, scoresAre } from '../support/documents/reader.ts';
import { realModel } from '../support/models/real-models.mjs';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();

test('the reader of documents scores pairs as its training code does', async () => {
  await scoresAre(await loadOnVulkan(await realModel('minilm'), { adapter: reader }));
});
