import { test } from 'vitest';
import { reader, scoresAre } from '../../support/documents/reader.ts';
import { realModel } from '../../support/models/real-models.mjs';
import { loadOnMetal } from '../standin.ts';

test('the reader of documents scores pairs as its training code does', async () => {
  await scoresAre(await loadOnMetal(await realModel('minilm'), { adapter: reader }));
});
