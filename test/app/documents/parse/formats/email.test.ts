// What is shown of a message: its head, its text or its page, and what it carries.
import { expect, test } from 'vitest';
import { readEmail } from '../../../../../app/documents/parse/formats/email.ts';
import { readAlone } from '../../../../support/documents/read-alone.ts';

const mail = (...lines: string[]) => lines.join('\r\n');

test('everybody who gets it is named, with a name and without', async () => {
  const { lines, title } = await readAlone(
    readEmail,
    'a.eml',
    mail(
      'From: ada@example.org',
      'To: Bo <bo@example.org>, cy@example.org',
      'Cc: Di <di@example.org>',
      'Date: nonsense',
      '',
      'Hello.',
    ),
  );
  expect(lines).toEqual([
    'paragraph: From: ada@example.org\nTo: Bo <bo@example.org>, cy@example.org\nCc: Di <di@example.org>',
    'paragraph: Hello.',
  ]);
  expect(title).toBeNull();
});

test('a paragraph is a quotation where all of its lines are quoted', async () => {
  const body = ['One', 'two', '', '> > Deep', '> quoted', '', '> half', 'said', ' ', 'End'];
  const { lines } = await readAlone(readEmail, 'a.eml', mail('Subject:  Tea ', '', ...body));
  expect(lines).toEqual([
    'heading1: Tea',
    'paragraph: One\ntwo',
    'quote: Deep\nquoted',
    'paragraph: > half\nsaid',
    'paragraph: End',
  ]);
});

test('a message that is only a page is read as one', async () => {
  const { lines } = await readAlone(
    readEmail,
    'a.eml',
    mail('Content-Type: text/html', '', '<h2>Tea</h2><p>Green</p>'),
  );
  expect(lines).toEqual(['heading2: Tea', 'paragraph: Green']);
});

test.each([10, 11])('of %i files ten are named', async (count) => {
  const files = Array.from({ length: count }, (_, at) => [
    '--x',
    `Content-Disposition: attachment; filename="f${at}.pdf"`,
    '',
    'a',
  ]).flat();
  const { notices } = await readAlone(
    readEmail,
    'a.eml',
    mail('Content-Type: multipart/mixed; boundary=x', '', ...files, '--x--'),
  );
  const names = Array.from({ length: 10 }, (_, at) => `f${at}.pdf`).join(', ');
  expect(notices).toEqual([{ code: 'attachments', details: { names: count > 10 ? `${names}, …` : names } }]);
});

test('a file without a name is told all the same', async () => {
  const parts = ['--x', 'Content-Type: application/pdf', 'Content-Disposition: attachment', '', 'a', '--x--'];
  const { notices } = await readAlone(
    readEmail,
    'a.eml',
    mail('Content-Type: multipart/mixed; boundary=x', '', ...parts),
  );
  expect(notices).toEqual([{ code: 'attachments', details: { names: 'without a name' } }]);
});

test('messages of 64 MB are read, larger ones are refused with their size', async () => {
  expect((await readAlone(readEmail, 'a.eml', mail('', 'Hello'), 64 * 1024 * 1024)).lines).toEqual([
    'paragraph: Hello',
  ]);
  await expect(readAlone(readEmail, 'a.eml', 'a', 64 * 1024 * 1024 + 1)).rejects.toMatchObject({
    code: 'too-large',
    message: '[documents] a.eml has 67108865 bytes, at most 67108864 are read as a message',
  });
});
