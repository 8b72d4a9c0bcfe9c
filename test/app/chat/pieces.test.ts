import { expect, test } from 'vitest';
import { decodeText } from '../../../app/chat/attachments.ts';
import { isPicture } from '../../../app/chat/pictures.ts';
import { withAttachments } from '../../../app/chat/prompt/prompt.ts';
import { titleFrom } from '../../../app/chat/titles.ts';
import { branch, newestLeaf } from '../../../app/chat/tree.ts';
import type { ChatId, Message, MessageId } from '../../../app/protocol/index.ts';

const message = (
  id: string,
  parentId: string | null,
  state: Message['state'] = { status: 'done', reason: null },
): Message => ({
  id: id as MessageId,
  chatId: 'c' as ChatId,
  parentId: parentId as MessageId | null,
  role: 'user',
  createdAt: 0,
  text: id,
  thinking: '',
  attachments: [],
  state,
  modelName: null,
  usage: null,
  timings: null,
  loops: [],
  grounding: null,
  contextCutoff: null,
  toolUses: [],
});
const ids = (messages: Message[]) => messages.map((one) => one.id).join('');
const at = (id: string) => id as MessageId;

//  a ─ b ─ c        b and d are versions, e is the newest below d; f waits
//   └─ d ─ e
const tree = [
  message('a', null),
  message('b', 'a'),
  message('c', 'b'),
  message('d', 'a'),
  message('e', 'd'),
  message('f', 'e', { status: 'queued' }),
];

test('the shown branch goes from the root to the leaf', () => {
  expect(ids(branch(tree, at('c')))).toBe('abc');
  expect(ids(branch(tree, at('e')))).toBe('ade');
  expect(branch(tree, null)).toEqual([]);
  expect(branch(tree, at('unknown'))).toEqual([]);
});

test('a circle, which only damage could make, ends', () => {
  expect(branch([message('a', 'b'), message('b', 'a')], at('a'))).toHaveLength(2);
});

test('the newest branch below a message; what waits is on no branch', () => {
  expect(newestLeaf(tree, at('a'))).toBe('e');
  expect(newestLeaf(tree, at('b'))).toBe('c');
  expect(newestLeaf(tree, at('c'))).toBe('c');
});

test('a file stands before the question, fenced so that its own fences stay inside', () => {
  const prompt = withAttachments(
    'What is this?',
    [{ name: 'a.md', text: 'code:\n```js\nx\n```\n', picture: null }],
    true,
  );
  expect(prompt).toBe('a.md:\n````\ncode:\n```js\nx\n```\n````\n\nWhat is this?');
  expect(withAttachments('Hi', [], true)).toBe('Hi');
});

test('a picture is known by how its file begins', () => {
  const begins = (text: string) => isPicture(Buffer.from(text, 'latin1'));
  const pictures = ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff\xe0', 'GIF89a', 'RIFF\x24\0\0\0WEBPVP8 ', 'II*\0', 'MM\0*'];
  for (const text of [...pictures, '\0\0\0\x1cftypavif', '\0\0\0\x18ftypheic']) expect(begins(text), text).toBe(true);
  for (const text of [
    '',
    'GIF9',
    'RIFF\x24\0\0\0WAVEfmt ',
    'RIFF is no word',
    'MM is one',
    '\0\0\0\x18ftypisom',
    'A PNG',
  ])
    expect(begins(text), text).toBe(false);
});

test('a picture is shown to a model that sees, and another one is told that there is one', () => {
  const picture = { name: 'cat.png', text: '', picture: { stored: 'x.png', width: 9, height: 9 } };
  expect(withAttachments('Which breed?', [picture], true)).toBe('Which breed?');
  expect(withAttachments('Which breed?', [picture], false)).toBe(
    '(A picture, cat.png, which you cannot see.)\n\nWhich breed?',
  );
});

test.each([
  ['A Trip to Lisbon', 'A Trip to Lisbon'],
  ['"A trip to Lisbon."', 'A trip to Lisbon'],
  ['Title: **Lisbon by train**', 'Lisbon by train'],
  ['To "Lisbon" by train', 'To "Lisbon" by train'],
  ['A trip to "Lisbon by train', null],
  ['I could not find that in your documents', null],
  ['', null],
  ['the and of', null],
  [`Lisbon ${'very '.repeat(30)}`, null],
])('a title is one only when it is short and about the conversation: %j', (written, title) => {
  expect(titleFrom(written, 'How do I get to Lisbon by train? A trip of two days.')).toBe(title);
});

// What a model of 135 million parameters wrote, with what was asked and the begin of its answer.
test.each([
  [
    "Here's a possible title for this conversation:",
    'My cat will not eat her new food. Here are some possible reasons.',
  ],
  ['The moon is approximately 140,772,180 miles', 'How far is the moon? The moon is about 238,855 miles away.'],
  ['The sentence should be "Me and Him Goes to School.', 'Fix this sentence: me and him goes to school'],
  ["I'm here to help. What can I help you with?", 'Hello! I can help with maths. What can I help you with?'],
  ['The sea is a silent, a silent, a lone soul, a lone', 'Write a haiku about the sea. A lone soul, silent.'],
  ['Ancient Egyptian Burial Rites', 'How do I boil an egg? Put the egg into boiling water.'],
])('no title is %j', (written, conversation) => {
  expect(titleFrom(written, conversation)).toBeNull();
});

test('other forms of the words of the question are about it as well', () => {
  expect(titleFrom('Boiling Eggs Softly', 'How do I boil an egg so that the yolk stays soft?')).toBe(
    'Boiling Eggs Softly',
  );
});

test('an echo of what was asked for is no title', () => {
  expect(titleFrom('Answer with the title of two to six words for ever', 'Go on for ever.')).toBeNull();
  expect(titleFrom('A title for two words', 'Find a title of two words for my book.')).toBe('A title for two words');
});

test('text in UTF-8 and UTF-16 is read, anything else is refused', () => {
  expect(decodeText(Buffer.from('caf\u00e9\r\nx'), 'a')).toBe('café\nx');
  expect(decodeText(Buffer.from('\ufeffcafé', 'utf16le'), 'a')).toBe('café');
  expect(decodeText(Buffer.from('\ufeffcafé'), 'a')).toBe('café');
  for (const bytes of [
    Buffer.from([0x89, 0x50, 0x4e, 0x47]),
    Buffer.from('a\0b'),
    Buffer.from([0xc3]),
    Buffer.from('%PDF-1.7\n1 0 obj'),
  ]) {
    expect(() => decodeText(bytes, 'picture.png')).toThrow('not text');
  }
});
