// What is shown of a message that was found.
import { expect, test } from 'vitest';
import { updateChat } from '../../../../app/store/chats/chats.ts';
import { searchChats } from '../../../../app/store/chats/search.ts';
import { addExchange, inMemory } from '../support.ts';

const long = 'x'.repeat(160);
const before = `${'a'.repeat(30)} ${'b'.repeat(20)} `;

test.each([
  ['a short text is shown whole', 'The mill\nby the river.', 'mill', 'The mill by the river.', ['mill']],
  ['a text of 160 characters is shown whole', `mill${long.slice(4)}`, 'mill', `mill${long.slice(4)}`, ['mill']],
  ['one of 161 goes on', `mill${long.slice(3)}`, 'mill', `mill${long.slice(4)} …`, ['mill']],
  [
    'a word behind 40 characters',
    `${'a'.repeat(20)} ${'b'.repeat(18)} mill`,
    'mill',
    `${'a'.repeat(20)} ${'b'.repeat(18)} mill`,
    ['mill'],
  ],
  ['a word behind 52 characters: from the next word on', `${before}mill`, 'mill', `… ${'b'.repeat(20)} mill`, ['mill']],
  ['a word in a text without blanks', `${'a'.repeat(60)}mill`, 'mill', `… ${'a'.repeat(40)}mill`, ['mill']],
  [
    'the first of several words counts',
    `mill ${'word '.repeat(60)}river`,
    'river mill',
    `mill ${'word '.repeat(31)} …`,
    ['mill'],
  ],
  ['words that overlap are one mark', 'a windmill here', 'windm dmill', 'a windmill here', ['windmill']],
  ['words that touch are one mark', 'a windmill here', 'wind mill', 'a windmill here', ['windmill']],
  [
    'words that stand apart are two, in the order of the text',
    'the mill in the wind',
    'wind mill',
    'the mill in the wind',
    ['mill', 'wind'],
  ],
  ['a word within another is within its mark', 'a windmill here', 'windmill dmi', 'a windmill here', ['windmill']],
  ['every time it is said', 'mill, mill and millmill', 'mill', 'mill, mill and millmill', ['mill', 'mill', 'millmill']],
])('%s', async (_, text, query, excerpt, marks) => {
  const db = inMemory();
  addExchange({ db }, '?', text);
  const [hit, ...others] = await searchChats(db, query, 10);
  expect(others).toEqual([]);
  expect(hit?.excerpt.trimEnd()).toBe(excerpt.replace(/ {2}…$/, '  …'));
  expect(hit?.highlights.map(([start, end]) => hit.excerpt.slice(start, end))).toEqual(marks);
});

test('titles come first, and with them no more is found than was asked for', async () => {
  const db = inMemory();
  const { chatId, answerId } = addExchange({ db }, 'A mill?', 'A mill.');
  updateChat(db, chatId, { title: 'The mill' });
  const found = async (limit: number) => (await searchChats(db, 'mill', limit)).map(({ messageId }) => messageId);
  expect(await found(1)).toEqual([null]);
  expect(await found(2)).toEqual([null, answerId]);
  expect(await found(9)).toHaveLength(3);
  expect(await searchChats(db, ' \0 ', 9)).toEqual([]);
});
