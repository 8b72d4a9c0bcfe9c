import i18n from 'i18next';
import { expect, test } from 'vitest';
import type {
  Attachment,
  AttachmentId,
  Message,
  MessageId,
  Source,
  StatsSample,
  ToolUse,
} from '../../../app/protocol/index.ts';
import { barsOf, chatAsMarkdown, quotingIn } from '../../../renderer/commands/export.ts';
import en from '../../../renderer/strings/en.json' with { type: 'json' };
import { createFormats } from '../../../renderer/ui/format.ts';

const page = i18n.createInstance();
await page.init({ lng: 'en', resources: { en: { translation: en } }, interpolation: { escapeValue: false } });
const formats = createFormats('en-GB');
const words = {
  you: 'You',
  answer: 'Answer',
  figures: ({ speed, first, read, written }: Record<'speed' | 'first' | 'read' | 'written', string>) =>
    `${speed}, first token after ${first}, ${read} read, ${written} written`,
  quote: quotingIn(page.t),
};
const sample = (atMs: number, tokensPerSecond: number | null): StatsSample => ({
  atMs,
  phase: 'answer',
  tokensPerSecond,
  tokens: 1,
  memoryBytes: null,
});
const question = { id: 'q', role: 'user', text: 'a', attachments: [] as Message['attachments'] } as Message;
const none = { toolUses: [] as Message['toolUses'] };
const answer = {
  id: 'r',
  role: 'assistant',
  text: 'b',
  modelName: 'Starter',
  timings: null,
  usage: null,
  ...none,
} as Message;

test('questions and answers under their names; an answer that was not measured has no figures', () => {
  const text = chatAsMarkdown('T', [question, answer], new Map(), formats, words);
  expect(text).toBe('# T\n\n## You\n\na\n\n## Starter\n\nb');
});

test('pictures go along where they can be shown, other files by their names', () => {
  const file = (id: string, name: string) => ({ id: id as AttachmentId, name }) as Attachment;
  const attachments = [file('1', 'a [b].png'), file('2', 'notes.txt'), file('3', 'gone.jpg')];
  const shown = new Map([['1' as AttachmentId, 'data:image/webp;base64,AA']]);
  const text = chatAsMarkdown(
    'T',
    [
      { ...question, attachments },
      { ...question, text: '', attachments },
    ],
    new Map(),
    formats,
    words,
    shown,
  );
  const files = '![a \\[b\\].png](data:image/webp;base64,AA)\n\n- notes.txt\n\n- gone.jpg';
  expect(text).toBe(`# T\n\n## You\n\n${files}\n\na\n\n## You\n\n${files}`);
});

test('what is quoted goes along, in one line, and is no element, link or code of the text it is put into', () => {
  const text = 'One.\nThe fee is <b onclick="x()">40</b> euros, [see](javascript:x) `rm`\nand *all*. Two.';
  const [start, end] = [text.indexOf('The'), text.indexOf(' Two')];
  const source = { number: 3, name: 'fees_2031 [draft].pdf', location: { kind: 'page', page: 3 }, text } as Source;
  const grounding = {
    found: true,
    sources: [source],
    quote: { source: 3, start, end, location: { kind: 'page', page: 4 } },
  } as Message['grounding'];
  const quoted = chatAsMarkdown('T', [{ ...answer, grounding }], new Map(), formats, words);
  expect(quoted).toBe(
    '# T\n\n## Starter\n\nb\n\n> From the source: “The fee is \\<b onclick="x()">40\\</b> euros, ' +
      '\\[see\\](javascript:x) \\`rm\\` and \\*all\\*.” (fees_2031 \\[draft\\].pdf, p. 4)',
  );
});

test('the speed of an answer goes along: its chart in one line, and its figures', () => {
  const measured = {
    ...answer,
    timings: { firstTokenMs: 410, prefillMs: 1, decodeMs: 1, thinkingMs: 0, totalMs: 1, tokensPerSecond: 46.1 },
    usage: { promptTokens: 1200, cachedTokens: 0, thinkingTokens: 10, answerTokens: 20 },
  } as Message;
  const samples = new Map([['r' as MessageId, [sample(100, 20), sample(600, 40), sample(1100, 40)]]]);
  const text = chatAsMarkdown('T', [question, measured], samples, formats, words);
  expect(text).toMatch(/> `▅██` 46\.1\u00a0tok\/s, first token after 0\.41\u00a0s, 1,200 read, 30 written$/);
});

test('bars: a gap where nothing was written, at most 32, nothing for nothing', () => {
  expect(barsOf([8, null, 8])).toBe('█ █');
  expect(barsOf(Array.from({ length: 1000 }, (_, at) => at + 1))).toHaveLength(32);
  expect(barsOf([])).toBe('');
  expect(barsOf([null, 0])).toBe('');
});

test('calls of tools stand where they were made, with their results, out of which no fence leads', () => {
  const use = (name: string, given: object, result: string | null, textAt: number, pictures: Attachment[] = []) =>
    ({ name, arguments: JSON.stringify(given), result, textAt, pictures }) as ToolUse;
  const picture = { id: '1' as AttachmentId, name: 'picture-1.png' } as Attachment;
  const toolUses = [
    use('calculator', { expression: '6 * 7' }, '42', 8),
    use('run_javascript', { code: 'f(`x`)' }, 'so:\n````\n# Not a heading\n````', 8, [picture]),
    use('fetch_page', { url: 'https://a.example' }, null, 99),
  ];
  const shown = new Map([['1' as AttachmentId, 'data:image/webp;base64,AA']]);
  const made = { ...answer, text: 'Let me. It is 42.', toolUses };
  const text = chatAsMarkdown('T', [made], new Map(), formats, words, shown);
  expect(text.slice(text.indexOf('Let me'))).toBe(
    [
      'Let me. ',
      '- **calculator** `6 * 7`',
      '```\n42\n```',
      '- **run_javascript** `f(´x´)`',
      '`````\nso:\n````\n# Not a heading\n````\n`````',
      '![picture-1.png](data:image/webp;base64,AA)',
      'It is 42.',
      '- **fetch_page** `https://a.example`',
    ].join('\n\n'),
  );
});
