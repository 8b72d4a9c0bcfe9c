import { test } from 'vitest';
import { reader, scoresAre } from '../support/reader.ts';
import { realModel } from '../support/real-models.mjs';
import { loadOnMetal } from './standin.ts';

test('the reader of documents scores pairs as its training code does', async () => {
  await scoresAre(await loadOnMetal(await realModel('minilm'), { adapter: reader }));
});
