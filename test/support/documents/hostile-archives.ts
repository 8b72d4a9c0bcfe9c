import { crc32, deflateRawSync } from 'node:zlib';
import type { Hostile } from './hostile-documents.ts';
import { archive, makeDocx, makeEpub, relations, wp } from './office.ts';

const MB = 1024 * 1024;
const bytes = (text: string) => Buffer.from(text, 'latin1');

type Stored = { name: string; data: Buffer; raw: Buffer; says?: number; offset?: number };

/** An archive whose directory says what the attacker wants; entries may share their bytes. */
export function zipOf(entries: readonly Stored[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, raw, says = raw.length, offset } of entries) {
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(8, 8);
    const crc = crc32(raw);
    head.writeUInt32LE(crc, 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt32LE(says, 22);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 6);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(crc, 16);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(says, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset ?? at, 42);
    directory.push(entry, bytes(name));
    if (offset !== undefined) continue;
    parts.push(head, bytes(name), data);
    at += 30 + name.length + data.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 8);
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listed, end]);
}

const packed = (name: string, raw: Buffer): Stored => ({ name, raw, data: deflateRawSync(raw, { level: 9 }) });
const opf = (items: string, spine: string) =>
  `<package><metadata/><manifest>${items}</manifest><spine>${spine}</spine></package>`;
const container = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>';
const workbook = (sheet: string, sheets = '<sheet name="A" sheetId="1" r:id="s0"/>') =>
  archive({
    '_rels/.rels': relations({ rId1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/_rels/workbook.xml.rels': relations({ s0: ['worksheet', 'worksheets/sheet1.xml'] }),
    'xl/workbook.xml': `<workbook xmlns:r="r"><sheets>${sheets}</sheets></workbook>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
  });
/** Attacks through archives: office files and books. */
export const ARCHIVES: Hostile[] = [
  {
    name: 'a-chapter-100000-times.epub',
    make: () =>
      archive({
        'META-INF/container.xml': container,
        'book.opf': opf('<item id="c" href="c.xhtml"/>', '<itemref idref="c"/>'.repeat(100_000)),
        'c.xhtml': `<p>${'The same chapter again. '.repeat(200)}</p>`,
      }),
    becomes: 'ready',
  },
  {
    name: 'a-chapter-under-100000-names.epub',
    make: () =>
      archive({
        'META-INF/container.xml': container,
        'book.opf': opf(
          Array.from(
            { length: 100_000 },
            (_, at) => `<item id="c${at}" href="${'./'.repeat(at % 9)}c.xhtml#${at}"/>`,
          ).join(''),
          Array.from({ length: 100_000 }, (_, at) => `<itemref idref="c${at}"/>`).join(''),
        ),
        'c.xhtml': `<p>${'The same chapter again. '.repeat(200)}</p>`,
      }),
    becomes: 'ready',
  },
  {
    name: 'chapters-of-spaces.epub',
    // Each is harmless alone; together they are a gigabyte.
    make: () => {
      const chapter = deflateRawSync(Buffer.alloc(15 * MB, 0x20), { level: 9 });
      const raw = Buffer.alloc(15 * MB, 0x20);
      const names = Array.from({ length: 66 }, (_, at) => `c${at}.xhtml`);
      return zipOf([
        packed('META-INF/container.xml', bytes(container)),
        packed(
          'book.opf',
          bytes(
            opf(
              names.map((name) => `<item id="${name}" href="${name}"/>`).join(''),
              names.map((name) => `<itemref idref="${name}"/>`).join(''),
            ),
          ),
        ),
        ...names.map((name) => ({ name, raw, data: chapter })),
      ]);
    },
    becomes: 'failed',
  },
  {
    name: 'entries-that-share-their-bytes.docx',
    make: () => {
      const raw = Buffer.alloc(4 * MB, 0x20);
      const data = deflateRawSync(raw, { level: 1 });
      const first = { name: 'word/document.xml', raw, data };
      return zipOf([first, ...Array.from({ length: 2000 }, (_, at) => ({ name: `p${at}`, raw, data, offset: 0 }))]);
    },
    becomes: 'failed',
  },
  {
    name: 'a-size-that-lies.docx',
    make: () => {
      const raw = bytes(`<w:document xmlns:w="w"><w:body>${' '.repeat(200 * MB)}</w:body></w:document>`);
      return zipOf([{ ...packed('word/document.xml', raw), says: 1000 }]);
    },
    becomes: 'failed',
  },
  {
    name: 'a-size-of-four-gigabytes.docx',
    make: () => zipOf([{ ...packed('word/document.xml', bytes('<w:document/>')), says: 0xfffffffe }]),
    becomes: 'failed',
  },
  {
    name: 'entries-60000.docx',
    make: () =>
      zipOf(
        Array.from({ length: 60_000 }, (_, at) => ({
          name: `p${at}`,
          raw: Buffer.alloc(0),
          data: Buffer.from([3, 0]),
        })),
      ),
    becomes: 'failed',
  },
  {
    name: 'names-that-climb.docx',
    make: () => archive({ '../../evil.txt': 'evil', 'word/document.xml': 'x' }),
    becomes: 'failed',
  },
  { name: 'tables-in-tables.docx', make: () => makeDocx('<w:tbl><w:tr><w:tc>'.repeat(100_000)), becomes: 'failed' },
  {
    name: 'tables-within-bounds.docx',
    make: () => makeDocx(`${'<w:tbl><w:tr><w:tc>'.repeat(600)}${wp('deep')}${'</w:tc></w:tr></w:tbl>'.repeat(600)}`),
  },
  { name: 'a-paragraph-of-megabytes.docx', make: () => makeDocx(wp('word '.repeat(3_000_000))), becomes: 'ready' },
  { name: 'a-tag-of-megabytes.docx', make: () => makeDocx(`<w:p ${'a="b" '.repeat(1_000_000)}/>${wp('after it')}`) },
  { name: 'a-tag-without-an-end.docx', make: () => makeDocx(`${wp('before it')}<w:p a="${'x'.repeat(30 * MB)}`) },
  {
    name: 'styles-that-extend-each-other.docx',
    make: () =>
      makeDocx(wp('text', '<w:pStyle w:val="a"/>'), {
        parts: {
          'word/styles.xml':
            '<w:styles xmlns:w="w"><w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>',
        },
      }),
    becomes: 'ready',
  },
  {
    name: 'laughs-by-the-billion.docx',
    make: () =>
      makeDocx('', {
        parts: {
          'word/document.xml': `<!DOCTYPE l [<!ENTITY a "lol">${Array.from({ length: 25 }, (_, at) => `<!ENTITY ${'abcdefghijklmnopqrstuvwxyz'[at + 1]} "${`&${'abcdefghijklmnopqrstuvwxyz'[at]};`.repeat(10)}">`).join('')}]><w:document xmlns:w="w"><w:body><w:p><w:r><w:t>&z;</w:t></w:r></w:p></w:body></w:document>`,
        },
      }),
  },
  {
    name: 'a-file-from-outside.docx',
    make: () =>
      makeDocx('', {
        parts: {
          'word/document.xml':
            '<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document xmlns:w="w"><w:body><w:p><w:r><w:t>&e;</w:t></w:r></w:p></w:body></w:document>',
        },
      }),
  },
  {
    name: 'a-title-of-megabytes.docx',
    make: () => makeDocx(wp('text'), { title: 'title '.repeat(1_000_000) }),
    becomes: 'ready',
  },
  {
    name: 'relations-a-million.docx',
    make: () =>
      makeDocx(wp('text'), {
        parts: {
          'word/_rels/document.xml.rels': `<Relationships>${'<Relationship Id="r" Type="t/x" Target="../../../x"/>'.repeat(300_000)}</Relationships>`,
        },
      }),
  },
  {
    name: 'sheets-that-are-one.xlsx',
    make: () =>
      workbook(
        '<row r="1"><c r="A1"><v>1</v></c></row>'.repeat(1000),
        '<sheet name="A" sheetId="1" r:id="s0"/>'.repeat(100_000),
      ),
    becomes: 'ready',
  },
  {
    name: 'a-sheet-with-a-long-name.xlsx',
    make: () =>
      workbook(
        '<row><c><v>1</v></c></row>'.repeat(2000),
        `<sheet name="${'n'.repeat(1_000_000)}" sheetId="1" r:id="s0"/>`,
      ),
    becomes: 'ready',
  },
  {
    name: 'cells-far-apart.xlsx',
    make: () =>
      workbook(
        `<row r="1">${Array.from({ length: 18_000 }, (_, at) => `<c r="${column(at * 50 + 1)}1"><v>${at}</v></c>`).join('')}</row>`,
      ),
  },
  { name: 'cells-a-million-in-a-row.xlsx', make: () => workbook(`<row>${'<c><v>1</v></c>'.repeat(1_100_000)}</row>`) },
  { name: 'rows-that-are-empty.xlsx', make: () => workbook('<row r="999999999999999999999"/>'.repeat(2_000_000)) },
  {
    name: 'a-cell-of-megabytes.xlsx',
    make: () => workbook(`<row><c t="str"><v>${'word '.repeat(2_000_000)}</v></c></row>`),
  },
  {
    name: 'dimensions-that-lie.xlsx',
    make: () => workbook('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    becomes: 'ready',
  },
  {
    name: 'slides-that-are-one.pptx',
    make: () =>
      archive({
        '_rels/.rels': relations({ r: ['officeDocument', 'ppt/presentation.xml'] }),
        'ppt/_rels/presentation.xml.rels': relations({ s: ['slide', 'slides/slide1.xml'] }),
        'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>${'<p:sldId r:id="s"/>'.repeat(100_000)}</p:sldIdLst></p:presentation>`,
        'ppt/slides/slide1.xml': `<p:sld xmlns:p="p" xmlns:a="a"><p:sp><a:p><a:r><a:t>${'again '.repeat(500)}</a:t></a:r></a:p></p:sp></p:sld>`,
      }),
    becomes: 'ready',
  },
  {
    name: 'a-book-in-a-book.epub',
    make: () => makeEpub('Book', [`<p>${'<b>'.repeat(1500)}text${'</b>'.repeat(1500)}</p>`.repeat(20)]),
  },
];

function column(number: number): string {
  let name = '';
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}
