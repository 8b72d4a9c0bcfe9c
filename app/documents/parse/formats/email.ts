import { readFile } from 'node:fs/promises';
import PostalMime, { type Address } from 'postal-mime';
import { LonghandError } from '../../../protocol/errors.ts';
import type { Element, Reader } from '../../element.ts';
import { piecesOfHtml } from './html.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** A message (RFC 5322, MIME): subject, sender, recipients, date, and text. */
export const readEmail: Reader = async (source, sink) => {
  if (source.bytes > MAX_BYTES) {
    throw new LonghandError(
      'too-large',
      `[documents] ${source.fileName} has ${source.bytes} bytes, at most ${MAX_BYTES} are read as a message`,
    );
  }
  const mail = await PostalMime.parse(await readFile(source.path), { maxNestingDepth: 50 }).catch((error: Error) => {
    throw new LonghandError('unreadable', `[documents] ${source.fileName} is not an email message: ${error.message}`);
  });
  const title = mail.subject?.trim() || null;
  if (title) await sink.add({ kind: 'heading', level: 1, text: title, where: { kind: 'block' } });
  const date = mail.date ? new Date(mail.date) : null;
  const lines = [
    ...(mail.from ? [`From: ${named([mail.from])}`] : []),
    ...(mail.to?.length ? [`To: ${named(mail.to)}`] : []),
    ...(mail.cc?.length ? [`Cc: ${named(mail.cc)}`] : []),
    ...(date && !Number.isNaN(date.getTime())
      ? [`Date: ${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`]
      : []),
  ];
  if (lines.length > 0) await sink.add({ kind: 'paragraph', text: lines.join('\n'), where: { kind: 'block' } });
  for (const piece of mail.text?.trim() ? piecesOfText(mail.text) : piecesOfHtml(mail.html ?? '').pieces) {
    await sink.add(piece);
  }
  const names = mail.attachments.map(({ filename }) => filename ?? 'without a name');
  if (names.length > 0)
    sink.notice('attachments', { names: `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}` });
  return { title, pages: null };
};

const named = (addresses: readonly Address[]): string =>
  addresses.map(({ name, address }) => (name && address ? `${name} <${address}>` : name || address || '')).join(', ');

/** Paragraphs; quoted lines of earlier messages become quotes. */
function* piecesOfText(text: string): Generator<Element> {
  for (const part of text.replace(/\r\n?/g, '\n').split(/\n\s*\n/)) {
    const lines = part.split('\n').filter((line) => line.trim() !== '');
    if (lines.length === 0) continue;
    const quoted = lines.every((line) => line.startsWith('>'));
    const said = lines.map((line) => (quoted ? line.replace(/^(>\s?)+/, '') : line).trim()).join('\n');
    yield { kind: quoted ? 'quote' : 'paragraph', text: said, where: { kind: 'block' } };
  }
}
