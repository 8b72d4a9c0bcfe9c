import { deflateRawSync, deflateSync } from 'node:zlib';
import type { Hostile } from './hostile-documents.ts';
import { stream, written } from './pdf.ts';

const MB = 1024 * 1024;
const bytes = (text: string) => Buffer.from(text, 'latin1');

/** A PDF of one page with this stream as its content. */
export const pdfWith = (entries: string, content: Buffer, more: string[] = [], resources = '') =>
  written(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> ${resources} >> >>`,
      stream(entries, content),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...more,
    ],
    '',
  );

const shown = (text: string) => `BT /F 10 Tf 50 700 Td (${text}) Tj ET\n`;
/** Spaces deflated twice, without a gigabyte in this process: the inner stream is one block, repeated. */
export function deflatedTwice(gigabytes: number): Buffer {
  const piece = 64 * MB;
  const block = deflateRawSync(Buffer.alloc(piece, 0x20), { level: 9, finishFlush: 2 });
  const inner = Buffer.concat([
    Buffer.from([0x78, 0x9c]),
    ...Array.from({ length: Math.round((gigabytes * 1024 * MB) / piece) }, () => block),
  ]);
  return deflateSync(inner, { level: 9 });
}

/** A chain of deflate, `times` deep, over zeros. */
function chain(times: number, size: number): Buffer {
  let data: Buffer = Buffer.alloc(size, 0x20);
  for (let at = 0; at < times; at++) data = deflateSync(data, { level: 9 });
  return data;
}

/** Attacks through filters, pictures, fonts, trees and drawing operators. */
export const PDFS: Hostile[] = [
  {
    name: 'deflated-twice.pdf',
    make: () => pdfWith('/Filter [/FlateDecode /FlateDecode]', deflatedTwice(6)),
    becomes: 'failed',
  },
  {
    name: 'deflated-five-times.pdf',
    slow: true,
    make: () => pdfWith(`/Filter [${'/FlateDecode '.repeat(5)}]`, chain(5, 200 * MB)),
  },
  {
    name: 'runs-and-deflate.pdf',
    slow: true,
    // Two bytes make 128 spaces.
    make: () =>
      pdfWith('/Filter [/FlateDecode /RunLengthDecode]', deflateSync(Buffer.alloc(40 * MB, Buffer.from([129, 0x20])))),
  },
  {
    name: 'ascii85-of-zeros.pdf',
    slow: true,
    make: () => pdfWith('/Filter [/FlateDecode /ASCII85Decode]', deflateSync(Buffer.alloc(150 * MB, 'z'))),
  },
  { name: 'filters-a-thousand.pdf', make: () => pdfWith(`/Filter [${'/ASCIIHexDecode '.repeat(1000)}]`, bytes('20>')) },
  {
    name: 'lzw-bomb.pdf',
    make: () =>
      pdfWith(
        '/Filter [/FlateDecode /LZWDecode]',
        deflateSync(Buffer.alloc(30 * MB, Buffer.from([0x80, 0x0b, 0x60, 0x50]))),
      ),
  },
  {
    name: 'predictor-of-a-billion-columns.pdf',
    make: () =>
      pdfWith(
        '/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 2000000000 /Colors 4 >>',
        deflateSync(bytes(shown('a'))),
      ),
  },
  {
    name: 'length-that-lies.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('text')))
          .toString('latin1')
          .replace(/\/Length \d+/, '/Length 2000000000'),
        'latin1',
      ),
  },
  {
    name: 'pages-a-billion.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('one page')))
          .toString('latin1')
          .replace('/Count 1', '/Count 1000000000'),
        'latin1',
      ),
  },
  {
    name: 'pages-that-are-one.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('again and again')))
          .toString('latin1')
          .replace('/Count 1 /Kids [3 0 R]', `/Count 3000 /Kids [${'3 0 R '.repeat(3000)}]`),
        'latin1',
      ),
  },
  {
    name: 'tree-that-holds-itself.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('a')))
          .toString('latin1')
          .replace('/Kids [3 0 R]', '/Kids [2 0 R 2 0 R 2 0 R 3 0 R]'),
        'latin1',
      ),
  },
  {
    name: 'forms-that-hold-each-other.pdf',
    // Each form draws the next one ten times: ten to the power of twelve in all.
    make: () =>
      pdfWith(
        '',
        bytes('/X0 Do'),
        Array.from({ length: 12 }, (_, at) =>
          stream(
            `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F 5 0 R >> /XObject << /X${at + 1} ${at + 7} 0 R >> >>`,
            bytes(at === 11 ? shown('a') : `/X${at + 1} Do `.repeat(10)),
          ),
        ),
        '/XObject << /X0 6 0 R >>',
      ),
    slow: true,
  },
  {
    name: 'form-that-draws-itself.pdf',
    make: () =>
      pdfWith(
        '',
        bytes('/X0 Do'),
        [
          stream(
            '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X0 6 0 R >> >>',
            bytes('/X0 Do /X0 Do'),
          ),
        ],
        '/XObject << /X0 6 0 R >>',
      ),
  },
  {
    name: 'glyphs-two-million.pdf',
    make: () => pdfWith('/Filter /FlateDecode', deflateSync(bytes(shown('x'.repeat(200_000))))),
    becomes: 'ready',
  },
  {
    name: 'words-scattered.pdf',
    slow: true,
    make: () =>
      pdfWith(
        '/Filter /FlateDecode',
        deflateSync(
          bytes(
            `BT /F 1 Tf ${Array.from({ length: 60_000 }, (_, at) => `1 0 0 1 ${(at * 37) % 595} ${(at * 101) % 842} Tm (a) Tj`).join('\n')} ET`,
          ),
        ),
      ),
  },
  {
    name: 'one-word-in-one-place.pdf',
    make: () => pdfWith('/Filter /FlateDecode', deflateSync(bytes(shown('word').repeat(100_000)))),
  },
  {
    name: 'states-saved.pdf',
    slow: true,
    make: () => pdfWith('/Filter /FlateDecode', deflateSync(bytes('q '.repeat(3_000_000)))),
  },
  { name: 'arrays-nested.pdf', make: () => pdfWith('', bytes(`${'['.repeat(500_000)} TJ`)) },
  {
    name: 'dictionaries-nested.pdf',
    make: () => written([`<< /Type /Catalog /Pages ${'<< /A '.repeat(100_000)} >>`], ''),
  },
  {
    name: 'picture-of-gigabytes.pdf',
    make: () =>
      pdfWith(
        '',
        bytes('q 500 0 0 500 0 0 cm /P Do Q'),
        [
          stream(
            '/Type /XObject /Subtype /Image /Width 50000 /Height 50000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter [/FlateDecode /FlateDecode]',
            deflatedTwice(2),
          ),
        ],
        '/XObject << /P 6 0 R >>',
      ),
  },
  {
    name: 'font-of-gigabytes.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('text')), [
          '<< /Type /FontDescriptor /FontName /Evil /Flags 4 /FontFile2 7 0 R >>',
          stream('/Filter [/FlateDecode /FlateDecode] /Length1 100', deflatedTwice(2)),
        ])
          .toString('latin1')
          .replace('/Subtype /Type1 /BaseFont /Helvetica', '/Subtype /TrueType /BaseFont /Evil /FontDescriptor 6 0 R'),
        'latin1',
      ),
  },
  {
    name: 'map-to-unicode-of-everything.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('text')), [
          stream(
            '/Filter /FlateDecode',
            deflateSync(bytes('1 beginbfrange <0000> <ffffffff> <0000> endbfrange '.repeat(50_000))),
          ),
        ])
          .toString('latin1')
          .replace('/BaseFont /Helvetica', '/BaseFont /Helvetica /ToUnicode 6 0 R'),
        'latin1',
      ),
  },
  {
    name: 'objects-a-million.pdf',
    slow: true,
    make: () => bytes(`%PDF-1.7\n${'1 0 obj\n<<>>\nendobj\n'.repeat(300_000)}trailer << /Root 1 0 R >>`),
  },
  { name: 'references-in-a-ring.pdf', make: () => written(['2 0 R', '3 0 R', '1 0 R'], '') },
  {
    name: 'trailers-in-a-ring.pdf',
    make: () => bytes('%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer << /Size 1 /Prev 9 >>\nstartxref\n9\n%%EOF'),
  },
  {
    name: 'numbers-of-a-million-digits.pdf',
    make: () => pdfWith('', bytes(`${'9'.repeat(1_000_000)} ${'9'.repeat(1_000_000)} Td`)),
  },
  {
    name: 'names-of-a-megabyte.pdf',
    make: () => pdfWith('', bytes(`/${'#41'.repeat(1_000_000)} 10 Tf ${shown('a')}`)),
  },
  {
    name: 'page-without-a-size.pdf',
    make: () =>
      Buffer.from(
        pdfWith('', bytes(shown('a')))
          .toString('latin1')
          .replace('[0 0 595 842]', '[0 0 1e308 -1e308]'),
        'latin1',
      ),
  },
  {
    name: 'object-stream-bomb.pdf',
    make: () =>
      written(
        [
          '<< /Type /Catalog /Pages 2 0 R >>',
          stream('/Type /ObjStm /N 1000000000 /First 100 /Filter [/FlateDecode /FlateDecode]', deflatedTwice(2)),
        ],
        '',
      ),
  },
];
