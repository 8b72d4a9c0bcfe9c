// What the result of a tool of a server is to a model, and which pictures its user gets.
import { expect, test } from 'vitest';
import { partText, resultOf } from '../../../app/tools/mcp/result.ts';

const picture = (more: object = {}) => ({ type: 'image', mimeType: 'image/png', data: 'AAAA'.repeat(512), ...more });

test.each([
  [{ type: 'text', text: 'Words' }, 'Words'],
  [{ type: 'text' }, ''],
  [{ type: 'resource_link', name: 'notes', uri: 'file:///n' }, 'notes file:///n'],
  [{ type: 'resource_link', uri: 'file:///n' }, 'file:///n'],
  [{ type: 'resource_link', name: 'notes' }, 'notes'],
  [{ type: 'resource', resource: { text: '' } }, ''],
  [{ type: 'resource', resource: { text: 'Words', blob: 'AAAA' } }, 'Words'],
  [{ type: 'resource', resource: { blob: 'AAAA', mimeType: 'a/b', uri: 'x:y' } }, '[a/b, 1 KB, x:y: left out]'],
  [{ type: 'resource' }, '[a file, 0 KB: left out]'],
  [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA'.repeat(1024) }, '[audio/wav, 3 KB: left out]'],
  [{ type: 'audio', data: 'AAAA'.repeat(1025) }, '[audio, 4 KB: left out]'],
  [picture(), '[image/png, 2 KB: left out]'],
])('%j', (part, text) => {
  expect(partText(part, null)).toBe(text);
});

test('pictures are numbered, eight at most, in the kinds that a page shows', () => {
  const { text, pictures } = resultOf({ content: [picture(), picture({ mimeType: 'image/webp' })] });
  expect(text).toBe(
    '[picture 1, image/png, 2 KB: the user sees it, you do not]\n[picture 2, image/webp, 2 KB: the user sees it, you do not]',
  );
  expect(pictures.map(({ name, bytes }) => [name, bytes.length])).toEqual([
    ['picture-1.png', 1536],
    ['picture-2.webp', 1536],
  ]);
  const many = resultOf({ content: Array(9).fill(picture()) });
  expect(many.pictures).toHaveLength(8);
  expect(many.text.split('\n').at(-1)).toBe('[image/png, 2 KB: left out]');
  for (const odd of [picture({ mimeType: 'image/svg+xml' }), picture({ data: '' })])
    expect(resultOf({ content: [odd] }).pictures).toEqual([]);
});

test('structured content speaks where nothing else does, and nothing at all is said to be done', () => {
  const structuredContent = { a: 1 };
  expect(resultOf({ structuredContent }).text).toBe('{"a":1}');
  expect(resultOf({ content: [{ type: 'text', text: '' }], structuredContent }).text).toBe('{"a":1}');
  expect(resultOf({ content: [{ type: 'text', text: 'Words' }], structuredContent }).text).toBe('Words');
  expect(resultOf({}).text).toBe('Done. There is no result.');
});
