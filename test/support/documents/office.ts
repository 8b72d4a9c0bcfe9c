import { strToU8, zipSync } from 'fflate';

//  Office files and books, as small as the programs would accept.

export const archive = (parts: Record<string, string | Uint8Array>): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(parts).map(([name, part]) => [name, typeof part === 'string' ? strToU8(part) : part]),
      ),
    ),
  );

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
export const relations = (targets: Record<string, [type: string, target: string]>) =>
  `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${Object.entries(targets)
    .map(([id, [type, target]]) => `<Relationship Id="${id}" Type="${R}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;
const core = (title: string) =>
  `${XML}<cp:coreProperties xmlns:cp="x" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></cp:coreProperties>`;

/** `body` is WordprocessingML inside w:body. */
export const makeDocx = (body: string, options: { title?: string; parts?: Record<string, string> } = {}) =>
  archive({
    '_rels/.rels': relations({ rId1: ['officeDocument', 'word/document.xml'] }),
    'word/_rels/document.xml.rels': relations({
      rId1: ['styles', 'styles.xml'],
      rId2: ['footnotes', 'footnotes.xml'],
      rId3: ['comments', 'comments.xml'],
    }),
    'word/styles.xml': `${XML}<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Own"><w:name w:val="My own"/><w:basedOn w:val="berschrift2"/></w:style><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style></w:styles>`,
    'word/document.xml': `${XML}<w:document xmlns:w="w" xmlns:mc="mc"><w:body>${body}</w:body></w:document>`,
    ...(options.title === undefined ? {} : { 'docProps/core.xml': core(options.title) }),
    ...options.parts,
  });

export const wp = (text: string, properties = '') =>
  `<w:p>${properties ? `<w:pPr>${properties}</w:pPr>` : ''}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

export type Value = string | number | { date: number } | { percent: number } | null;

export function makeXlsx(sheets: Record<string, Value[][]>): Buffer {
  const shared: string[] = [];
  const cell = (value: Value, at: number, line: number) => {
    if (value === null) return '';
    const reference = `${String.fromCharCode(65 + at)}${line}`;
    if (typeof value === 'string') {
      shared.push(value);
      return `<c r="${reference}" t="s"><v>${shared.length - 1}</v></c>`;
    }
    if (typeof value === 'number') return `<c r="${reference}"><f>1+1</f><v>${value}</v></c>`;
    return 'date' in value
      ? `<c r="${reference}" s="1"><v>${value.date}</v></c>`
      : `<c r="${reference}" s="2"><v>${value.percent}</v></c>`;
  };
  const parts = Object.entries(sheets).map(([, rows], sheet) => [
    `xl/worksheets/sheet${sheet + 1}.xml`,
    `${XML}<worksheet><sheetData>${rows
      .map(
        (values, at) =>
          `<row r="${at + 1}">${values.map((value, column) => cell(value, column, at + 1)).join('')}</row>`,
      )
      .join('')}</sheetData></worksheet>`,
  ]);
  const names = Object.keys(sheets);
  return archive({
    '_rels/.rels': relations({ rId1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/_rels/workbook.xml.rels': relations({
      ...Object.fromEntries(names.map((_, at) => [`s${at}`, ['worksheet', `worksheets/sheet${at + 1}.xml`]])),
      shared: ['sharedStrings', 'sharedStrings.xml'],
      styles: ['styles', 'styles.xml'],
    }),
    'xl/workbook.xml': `${XML}<workbook xmlns:r="${R}"><sheets>${names.map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="s${at}"/>`).join('')}</sheets></workbook>`,
    'xl/styles.xml': `${XML}<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(parts),
    'xl/sharedStrings.xml': `${XML}<sst>${shared.map((text) => `<si><r><t>${text.slice(0, 2)}</t></r><r><t xml:space="preserve">${text.slice(2)}</t></r></si>`).join('')}</sst>`,
  });
}

export function makePptx(slides: { title: string; points: string[]; notes?: string; table?: string[][] }[]): Buffer {
  const shape = (type: string, paragraphs: string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${paragraphs
      .map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`;
  const parts: Record<string, string> = {};
  for (const [at, { title, points, notes, table }] of slides.entries()) {
    const rows = (table ?? [])
      .map(
        (cells) =>
          `<a:tr>${cells.map((text) => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`).join('')}</a:tr>`,
      )
      .join('');
    parts[`ppt/slides/slide${at + 1}.xml`] =
      `${XML}<p:sld xmlns:p="p" xmlns:a="a">${shape('title', [title])}${shape('body', points)}${shape('sldNum', [`${at + 1}`])}${rows && `<a:tbl>${rows}</a:tbl>`}</p:sld>`;
    if (notes === undefined) continue;
    parts[`ppt/slides/_rels/slide${at + 1}.xml.rels`] = relations({
      n: ['notesSlide', `../notesSlides/notes${at + 1}.xml`],
    });
    parts[`ppt/notesSlides/notes${at + 1}.xml`] =
      `${XML}<p:notes xmlns:p="p" xmlns:a="a">${shape('body', [notes])}</p:notes>`;
  }
  return archive({
    '_rels/.rels': relations({ rId1: ['officeDocument', 'ppt/presentation.xml'] }),
    'ppt/_rels/presentation.xml.rels': relations(
      // The list gives the order of the slides, not their file names.
      Object.fromEntries(slides.map((_, at) => [`s${at}`, ['slide', `slides/slide${at + 1}.xml`]])),
    ),
    'ppt/presentation.xml': `${XML}<p:presentation xmlns:p="p" xmlns:r="${R}"><p:sldIdLst>${slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="s${at}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'docProps/core.xml': core('PowerPoint Presentation'),
    ...parts,
  });
}

export const makeEpub = (title: string, chapters: string[]) =>
  archive({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `${XML}<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    'OEBPS/book.opf': `${XML}<package><metadata xmlns:dc="x"><dc:title>${title}</dc:title></metadata><manifest>${chapters
      .map((_, at) => `<item id="c${at}" href="text/chapter%20${at + 1}.xhtml"/>`)
      .reverse()
      .join('')}</manifest><spine>${chapters.map((_, at) => `<itemref idref="c${at}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(
      chapters.map((body, at) => [
        `OEBPS/text/chapter ${at + 1}.xhtml`,
        `<html><head><title>x</title></head><body>${body}</body></html>`,
      ]),
    ),
  });
