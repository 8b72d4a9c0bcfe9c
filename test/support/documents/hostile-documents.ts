import { crc32, deflateSync } from 'node:zlib';
import type { DocumentNotice } from '../../../app/protocol/index.ts';

//  Documents made to do harm. Each is small on disk but large, deep or slow to read.

export type Hostile = {
  name: string;
  make: () => Uint8Array;
  /** The outcome that is required; if absent, anything that ends. */
  becomes?: 'ready' | 'failed';
  /** A notice that the document must have. */
  says?: DocumentNotice;
  /** Takes the parser to one of its limits, and so takes as long as that. */
  slow?: boolean;
};

const bytes = (text: string) => Buffer.from(text, 'latin1');

const png = (width: number, height: number) => {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([bytes(type), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(4096))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};
const number32 = (value: number) => {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
};

/** Texts on which a pattern or a splitter could take quadratic time. */
export const textsOf = (size: number): Hostile[] => {
  const many = (text: string) => text.repeat(Math.ceil(size / text.length)).slice(0, size);
  const named = Object.entries({
    'abbreviations.txt': many('e.g. '),
    'one-line.txt': many('the quick brown fox jumps over the lazy dog and then '),
    'one-word.txt': many('a'),
    'full-stops.txt': many('.'),
    'spaces.txt': `a${many(' ')}b`,
    'line-ends.txt': `a${many('\n \t')}b`,
    'carriage-returns.txt': many('a\r'),
    'quotes-that-open.txt': many('"('),
    'marks-on-a-letter.txt': `a${many('\u0301')}`,
    'joined-faces.txt': many('\u{1f468}\u200d'),
    'characters-without-width.txt': many('\u200b'),
    'letters-from-right-to-left.txt': many('\u202eabc \u05d0\u05d1 '),
    'ideographs.txt': many('\u6f22\u5b57'),
    'thai.txt': many('\u0e20\u0e32\u0e29\u0e32'),
    'halves-of-pairs.txt': many('\\ud800 '),
    'markdown-brackets.md': many('['),
    'markdown-ticks.md': many('`a'),
    'markdown-stars.md': many('**a '),
    'markdown-underlines.md': many('_a'),
    'markdown-tags.md': many('<a'),
    'markdown-lists.md': many('- '.repeat(500)),
    'markdown-quotes.md': many('>'),
    'markdown-table.md': `|a|\n|-|\n${many('|')}`,
    'markdown-rules.md': many('* \n'),
    'markdown-short-lines.md': many(`${'[a](`'.repeat(300)}\n`),
    'markdown-fences.md': many('```\n~~~\n'),
    'markdown-heading-of-spaces.md': `# ${many(' ')}#`,
    'html-spaces-in-pre.html': `<pre>${many(`a${' '.repeat(20_000)}`)}</pre>`,
    'html-paragraphs-in-a-cell.html': `<table><tr><td>${many('<p>x</p>')}</td></tr></table>`,
    'html-deep.html': many('<div>'),
    'html-deep-within-bounds.html': `${'<div>'.repeat(1900)}${many('<b>x</b>')}`,
    'html-tables-in-tables.html': many('<table><tr><td>'),
    'html-without-an-end.html': `<p>before</p><!-- ${many('-')}`,
    'html-attributes.html': `<p ${many('a=b ')}>text`,
    'html-tag-without-an-end.html': many('<a '),
    'html-entities.html': many('&amp;&#x41;&lt'),
    'html-closing.html': many('</b>'),
    'html-title.html': `<title>${many('title ')}</title><p>text`,
    'csv-one-line.csv': many('a,'),
    'csv-one-cell.csv': many('word '),
    'csv-quotes.csv': many('"a'),
    'csv-double-quotes.csv': `"${many('""')}`,
    'csv-empty.csv': many(',\n'),
    'json-deep.json': many('['),
    'json-pairs-deep.json': `${'['.repeat(5000)}${']'.repeat(5000)}\n`.repeat(Math.ceil(size / 10_000)),
    'json-one-line.json': JSON.stringify(Array.from({ length: Math.ceil(size / 12) }, (_, at) => ({ a: at }))),
    'json-numbers.json': `[${many('1,')}1]`,
    'code-one-line.js': many('a();'),
    'code-indent.py': many(`${' '.repeat(5000)}a\n`),
    'mail-base64.eml': `Subject: a\nContent-Transfer-Encoding: base64\n\n${Buffer.from(many('word ')).toString('base64')}`,
    'mail-quotes.eml': `Subject: a\n\n${many('> ')}`,
    'mail-parts.eml': `Content-Type: multipart/mixed; boundary=b\n\n${many('--b\n\n\n')}`,
    'mail-parts-in-parts.eml': Array.from(
      { length: 2000 },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`,
    ).join(''),
    'mail-addresses.eml': `Subject: a\nTo: ${many('a@b.c, ')}\n\ntext`,
    'mail-header.eml': `Subject: ${many('=?utf-8?B?YQ==?= ')}\n\ntext`,
    'mail-html.eml': `Content-Type: text/html\n\n${many('<p>x')}`,
  });
  return named.map(([name, text]) => ({ name, make: () => Buffer.from(text) }));
};

/** More text than a library holds, which is read only in part. */
export const LIBRARY: Hostile = {
  name: 'a-library-on-one-line.txt',
  make: () => Buffer.from('the quick brown fox and then '.repeat(2_000_000)),
  becomes: 'ready',
  says: { code: 'characters-cut', details: { millions: 32 } },
  slow: true,
};

/** Pictures whose sizes exceed any memory. */
export const PICTURES: Hostile[] = [
  { name: 'png-50000.png', make: () => png(50_000, 50_000), becomes: 'failed' },
  { name: 'png-of-all.png', make: () => png(0x7fffffff, 0x7fffffff), becomes: 'failed' },
  { name: 'png-10000.png', make: () => png(10_000, 10_000) },
  {
    name: 'bmp-50000.bmp',
    make: () => Buffer.concat([bytes('BM'), Buffer.alloc(16), number32(50_000), number32(50_000), Buffer.alloc(60)]),
    becomes: 'failed',
  },
  { name: 'pnm-50000.ppm', make: () => bytes('P6\n# hidden\n50000 50000\n255\n'), becomes: 'failed' },
  {
    name: 'webp-of-all.webp',
    make: () =>
      Buffer.concat([
        bytes('RIFF'),
        number32(100),
        bytes('WEBPVP8X'),
        number32(10),
        Buffer.alloc(4),
        Buffer.alloc(6, 0xff),
        Buffer.alloc(60),
      ]),
    becomes: 'failed',
  },
  {
    name: 'jpeg-of-all.jpg',
    make: () => Buffer.from('ffd8ffc0001108ffffffff03011100021101031101ffd9', 'hex'),
    becomes: 'failed',
  },
  {
    name: 'jpeg-whose-parts-are-empty.jpg',
    make: () => Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(1_000_000, Buffer.from('ffe00000', 'hex'))]),
    becomes: 'failed',
  },
];
