import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  breakersOf,
  conclusionOf,
  openedAt,
  otherwise,
  quotedAnswer,
} from '../../../../../app/engine/process/generation/ways-out.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';

const starter = join(import.meta.dirname, '../../../../../resources/starter-model');

test('each rewind goes further away from what was written', () => {
  expect(otherwise(1, 0, [])).toMatchObject({ temperature: 0.6, dry: { allowedLength: 2 } });
  expect(otherwise(2, 0, [])).toMatchObject({ temperature: 0.9 });
  expect(otherwise(1, 1.2, [])).toMatchObject({ temperature: 1.2 });
});

test('in JSON and code the brackets, quotes and separators may repeat; in prose nothing is excepted', async () => {
  const model = await readModelText(addon, starter);
  const ids = (text: string) => model.tokenizer.encodeText(text);
  const json = ids('[\n  {"title": "Dune", "year": 1965},\n  {"title": "Emma", "year": 1815},\n');
  const excepted = new Set(breakersOf(model, json));
  expect(excepted.size).toBeGreaterThan(0);
  for (const id of ids('"')) expect(excepted.has(id)).toBe(true);
  for (const id of ids('Emma')) expect(excepted.has(id)).toBe(false);
  expect(otherwise(1, 0, [...excepted])).toMatchObject({ dry: { allowedLength: 4 } });
  expect(
    breakersOf(model, ids('The train leaves at nine. My sister forgot her umbrella, and we wait for her.')),
  ).toEqual([]);
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
