import { join } from 'node:path';
import { expect, test } from 'vitest';
import { breakersOf, nextRewind, otherwise } from '../../../../../app/engine/process/generation/rewind.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import type { LoopEvidence } from '../../../../../app/protocol/index.ts';
import { decode } from '../../../../../app/text/tokenizer/detokenizer.ts';
import { addon } from '../../../../support/addon.ts';

const starter = join(import.meta.dirname, '../../../../../resources/starter-model');

const prose = { structured: false, breakers: [] };

test('a rewind leaves what stood before the loop, and where that is little, begins anew', () => {
  const loop = (startToken: number) => ({ startToken, kind: 'exact' }) as LoopEvidence;
  const first = nextRewind(null, loop(500), 100);
  expect(first).toMatchObject({ times: 1, kind: 'exact', left: 500 });
  expect(nextRewind(null, loop(249), 100)).toMatchObject({ left: 100 });
  expect(nextRewind(null, loop(250), 100)).toMatchObject({ left: 250 });
  // Each further one wants more to be left; a loop that began in an earlier part is taken back as a whole.
  const second = nextRewind(first, loop(600), 100);
  expect(second).toMatchObject({ times: 2, left: 100 });
  expect(nextRewind(first, loop(700), 100)).toMatchObject({ left: 700 });
  expect(nextRewind(second, loop(2_499), 100)).toMatchObject({ times: 3, left: 100 });
  expect(nextRewind(second, loop(2_500), 100)).toMatchObject({ left: 2_500 });
  expect(nextRewind(null, loop(80), 100)).toMatchObject({ left: 80 });
});

test('each rewind goes further away from what was written', () => {
  expect(otherwise({ times: 1, kind: 'exact' }, 0, prose)).toMatchObject({
    temperature: 0.6,
    dry: { allowedLength: 3 },
  });
  expect(otherwise({ times: 2, kind: 'similar' }, 0, prose)).toMatchObject({ temperature: 0.9 });
  expect(otherwise({ times: 1, kind: 'exact' }, 1.2, prose)).toMatchObject({ temperature: 1.2 });
});

test('in a list that is worn out the words that were used cost more, since its phrases differ by their numbers', () => {
  const sampling = otherwise({ times: 1, kind: 'entries' }, 0, prose);
  expect(sampling).toMatchObject({ temperature: 0.8, presencePenalty: 0.8 });
  expect(sampling.dry).toBeUndefined();
  expect(otherwise({ times: 2, kind: 'entries' }, 0, prose).temperature).toBe(1);
});

test('in JSON and code the brackets, quotes and separators may repeat; in prose lines begin anew', async () => {
  const model = await readModelText(addon, starter);
  const ids = (text: string) => model.tokenizer.encodeText(text);
  const json = breakersOf(model, ids('[\n  {"title": "Dune", "year": 1965},\n  {"title": "Emma", "year": 1815},\n'));
  const excepted = new Set(json.breakers);
  for (const id of ids('"')) expect(excepted.has(id)).toBe(true);
  for (const id of ids('Emma')) expect(excepted.has(id)).toBe(false);
  expect(otherwise({ times: 1, kind: 'exact' }, 0, json)).toMatchObject({ dry: { allowedLength: 4 } });
  const said = 'The train leaves at nine. My sister forgot her umbrella, and we wait for her.';
  expect(breakersOf(model, ids(said))).toEqual(prose);
  const { structured, breakers } = breakersOf(model, ids(`${said}\n${said}\n`));
  expect({ structured, broken: breakers.map((id) => decode(model.tokenizer, [id])) }).toEqual({
    structured: false,
    broken: [expect.stringMatching(/\n/)],
  });
});
