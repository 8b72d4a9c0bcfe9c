import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  conclusionOf,
  openedAt,
  quotedAnswer,
  sentenceEnd,
} from '../../../../../app/engine/process/generation/loop-recovery.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';

const starter = join(import.meta.dirname, '../../../../../resources/starter-model');

test('what is kept of the thinking ends with a sentence where one ends nearby', async () => {
  const model = await readModelText(addon, starter);
  const { tokenizer } = model;
  const kept = tokenizer.encodeText('The side is 4. So the area is 12.');
  const ids = [...kept, ...tokenizer.encodeText(' But wait, maybe')];
  expect(sentenceEnd(model, ids, 0, ids.length)).toBe(kept.length);
  expect(sentenceEnd(model, ids, 0, kept.length)).toBe(kept.length);
  expect(sentenceEnd(model, ids, kept.length, ids.length)).toBe(ids.length);
});

test('the last thing that thinking settled on is quoted, not its last doubt', () => {
  const thinking =
    'The side is 4 and the height 3. So the area is 12. Wait, is that right? Maybe the height is 2. Let me check.';
  expect(conclusionOf(thinking)).toBe('So the area is 12.');
  expect(quotedAnswer(thinking)).toBe('The thinking did not end; so far: So the area is 12.');
  expect(quotedAnswer('The result is 12 for the first')).toBe(
    'The thinking did not end; so far: The result is 12 for the first …',
  );
  expect(quotedAnswer('Hmm, wait. Maybe?')).toBe('The thinking did not end, and had settled on nothing so far.');
});

test('where the thinking was opened by the model itself, the opening stays', () => {
  expect(openedAt([5, 7, 8, 9], [7, 8])).toBe(3);
  expect(openedAt([5, 7, 9], [7, 8])).toBe(0);
});
