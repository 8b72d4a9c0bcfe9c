import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  breakersOf,
  choicesIn,
  conclusionOf,
  openedAt,
  otherwise,
  quotedAnswer,
  sentenceEnd,
} from '../../../../../app/engine/process/generation/loop-recovery.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { decode } from '../../../../../app/text/tokenizer/detokenizer.ts';
import { addon } from '../../../../support/addon.ts';

const starter = join(import.meta.dirname, '../../../../../resources/starter-model');

const prose = { structured: false, breakers: [] };

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
  const inFence = breakersOf(model, ids('Here it is:\n```\nThe train leaves at nine.\nMy sister has the umbrella.\n'));
  expect(inFence.structured).toBe(true);
  const listed = breakersOf(model, ids('["The train leaves at nine and my sister forgot her umbrella again'));
  expect(listed.structured).toBe(true);
  const said = 'The train leaves at nine. My sister forgot her umbrella, and we wait for her.';
  expect(breakersOf(model, ids(said))).toEqual(prose);
  const { structured, breakers } = breakersOf(model, ids(`${said}\n${said}\n`));
  expect({ structured, broken: breakers.map((id) => decode(model.tokenizer, [id])) }).toEqual({
    structured: false,
    broken: [expect.stringMatching(/\n/)],
  });
});

test('what is kept of the thinking ends with a sentence where one ends nearby', async () => {
  const model = await readModelText(addon, starter);
  const { tokenizer } = model;
  const kept = tokenizer.encodeText('The side is 4. So the area is 12.');
  const ids = [...kept, ...tokenizer.encodeText(' But wait, maybe')];
  expect(sentenceEnd(model, ids, 0, ids.length)).toBe(kept.length);
  expect(sentenceEnd(model, ids, 0, kept.length)).toBe(kept.length);
  expect(sentenceEnd(model, ids, kept.length, ids.length)).toBe(ids.length);
  const short = tokenizer.encodeText('No.');
  expect(short.length).toBeLessThan(4);
  expect(sentenceEnd(model, [...short, ...tokenizer.encodeText(' But wait')], 0, short.length + 2)).toBe(short.length);
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

test('what looks like an opening further on is part of what was thought, and is not kept with all that stands before it', () => {
  expect(openedAt([...Array(17).fill(5), 7, 8, 9], [7, 8])).toBe(0);
});

test('what may be chosen in a loop, and where thinking takes long', () => {
  const loop = (where: 'thinking' | 'answer') => choicesIn({ where } as NonNullable<Parameters<typeof choicesIn>[0]>);
  expect(choicesIn(null)).toEqual({ choices: ['answer-now', 'keep-going', 'stop'], suggested: 'answer-now' });
  expect(loop('answer')).toEqual({ choices: ['stop', 'rewind', 'keep-going', 'loop-guard-off'], suggested: 'stop' });
  expect(loop('thinking').choices).toEqual(['answer-now', 'rewind', 'keep-going', 'loop-guard-off']);
});

test('a fence that was closed is prose again; half of the lines as data are not yet data', async () => {
  const model = await readModelText(addon, starter);
  const isData = (text: string) => breakersOf(model, model.tokenizer.encodeText(text)).structured;
  const prose = 'The train leaves at nine and my sister forgot her umbrella again.';
  expect(isData(`\`\`\`\n${prose}\n\`\`\`\n${prose}\n${prose}\n${prose}`)).toBe(false);
  expect(isData(`\`\`\`\n${prose}\n\`\`\`\n${prose}\n\`\`\`\n${prose}\n${prose}\n${prose}`)).toBe(true);
  expect(isData(`${prose}\na = b[3] + {c: 4};\n`)).toBe(false);
  expect(isData(`${prose}\na = b[3] + {c: 4};\nb = c[3] + {d: 4};\n`)).toBe(true);
  expect(isData('')).toBe(false);
});

test('thinking is cut at the end of a sentence that is near, and never before where it may begin', async () => {
  const model = await readModelText(addon, starter);
  const ids = model.tokenizer.encodeText('It is nine. We leave at ten and nobody has seen the umbrella');
  const cut = (from: number, end = ids.length) =>
    decode(model.tokenizer, ids.slice(0, sentenceEnd(model, ids, from, end)));
  expect(cut(0)).toBe('It is nine.');
  const first = model.tokenizer.encodeText('It is nine.').length;
  expect(sentenceEnd(model, ids, first - 1, ids.length)).toBe(first);
  expect(sentenceEnd(model, ids, first, ids.length)).toBe(ids.length);
  const far = model.tokenizer.encodeText(`It is nine.${' and the train'.repeat(60)}`);
  expect(sentenceEnd(model, far, 0, far.length)).toBe(far.length);
});

test('of several sentences without a conclusion the last one stands; what is too short or too long is none', () => {
  expect(conclusionOf('The sky is blue today. The grass is green today.')).toBe('The grass is green today.');
  expect(conclusionOf('Thus x=9')).toBe('');
  expect(conclusionOf('Thus x=10')).toBe('Thus x=10');
  expect(conclusionOf(`So ${'x'.repeat(397)}`)).toHaveLength(400);
  expect(conclusionOf(`So ${'x'.repeat(398)}`)).toBe('');
});
