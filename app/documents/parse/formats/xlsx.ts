import { LonghandError } from '../../../protocol/errors.ts';
import { type Element, type Reader, row, type Sink } from '../../element.ts';
import { type Archive, withArchive } from './archive.ts';
import { mainPart, relationsOf, titleOf } from './office.ts';
import { createFormatter, type Formatter } from './xlsx-values.ts';
import { attribute, walkXml } from './xml.ts';

//  Excel (ECMA-376, part 1, 18): values as displayed; for formulas the cached result.

/** Cells beyond this are ignored: a document, not a database. */
export const MAX_CELLS = 1_000_000;
/** Maximum characters of shared strings. */
const MAX_SHARED = 64 * 1024 * 1024;
/** Maximum empty columns preserved between two cells, and per row. */
const MAX_GAP = 50;
const MAX_GAPS = 1000;
/** Maximum length of a sheet name, which is repeated in every row; programs allow 31. */
const MAX_NAME = 100;

export const readXlsx: Reader = (source, sink) =>
  withArchive(source, async (archive) => {
    const main = await mainPart(archive, 'xl/workbook.xml');
    const relations = await relationsOf(archive, main);
    const partOf = (type: string) => [...relations.values()].find((one) => one.type === type)?.part;
    const { sheets, date1904 } = await readWorkbook(archive, main);
    const shared = await readShared(archive, partOf('sharedStrings'));
    const formatter = createFormatter(await archive.find(partOf('styles') ?? ''), date1904);
    const count = { cells: 0 };
    const read = new Set<string>();
    for (const [at, { name, id }] of sheets.entries()) {
      const part = relations.get(id)?.part;
      // A sheet is parsed once, however often it is listed.
      if (part === undefined || read.has(part) || !archive.has(part)) continue;
      read.add(part);
      await sink.add({ kind: 'sheet', text: name, where: { kind: 'cells', sheet: name, range: 'A1' } });
      await readSheet(archive, part, name, shared, await formatter, sink, count);
      sink.progress('file', at + 1, sheets.length);
      if (count.cells < MAX_CELLS) continue;
      sink.notice('cells-cut', { limit: MAX_CELLS });
      break;
    }
    return { title: await titleOf(archive), pages: sheets.length };
  });

async function readWorkbook(archive: Archive, part: string) {
  const sheets: { name: string; id: string }[] = [];
  let date1904 = false;
  await walkXml(archive.chunks(part), {
    open(name, attributes) {
      if (name === 'workbookPr') date1904 = ['1', 'true'].includes(attribute(attributes, 'date1904') ?? '');
      if (name !== 'sheet') return;
      sheets.push({
        name: (attributes.name ?? `Sheet ${sheets.length + 1}`).slice(0, MAX_NAME),
        id: attributes['r:id'] ?? relationId(attributes),
      });
    },
  });
  return { sheets, date1904 };
}

const relationId = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';

async function readShared(archive: Archive, part: string | undefined): Promise<string[]> {
  const shared: string[] = [];
  if (part === undefined || !archive.has(part)) return shared;
  let text = '';
  let inText = false;
  let phonetic = 0;
  let total = 0;
  await walkXml(archive.chunks(part), {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic++;
      else if (name === 't') inText = phonetic === 0;
    },
    text(piece) {
      if (inText) text += piece;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'rPh') phonetic--;
      else if (name === 'si') {
        total += text.length;
        if (total > MAX_SHARED) throw new LonghandError('too-large', '[documents] the workbook contains too much text');
        shared.push(text);
      }
    },
  });
  return shared;
}

type Cell = { column: number; text: string };

async function readSheet(
  archive: Archive,
  part: string,
  sheet: string,
  shared: readonly string[],
  formatter: Formatter,
  sink: Sink,
  count: { cells: number },
) {
  const ready: Element[] = [];
  let cells: Cell[] = [];
  let line = 0;
  let rows = 0;
  let cell = { column: 0, type: '', style: 0, value: '' };
  let inValue = false;

  function endCell() {
    const text = cell.type === 's' ? (shared[Number(cell.value)] ?? '') : formatter(cell.value, cell.type, cell.style);
    const shown = text.replace(/\s+/g, ' ').trim();
    if (shown === '') return;
    count.cells++;
    cells.push({ column: cell.column, text: shown });
  }
  function endRow() {
    if (cells.length === 0) return;
    const first = cells[0]?.column ?? 1;
    const last = cells.at(-1)?.column ?? first;
    const names = cells.every(({ text }) => !/^[-+]?[\d.,]+%?$/.test(text)) && cells.length > 1;
    const range = `${columnName(first)}${line}:${columnName(last)}${line}`;
    ready.push(row(spread(cells), { kind: 'cells', sheet, range }, rows++ === 0 && names));
    cells = [];
  }

  await walkXml(archive.chunks(part), {
    open(name, attributes) {
      if (name === 'row') {
        line = Number(attributes.r ?? line + 1);
        cells = [];
      } else if (name === 'c') {
        const column = columnOf(attributes.r) ?? (cells.at(-1)?.column ?? 0) + 1;
        cell = { column, type: attributes.t ?? 'n', style: Number(attributes.s ?? 0), value: '' };
      } else if (name === 'v' || name === 't') inValue = true;
    },
    text(piece) {
      if (inValue) cell.value += piece;
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false;
      else if (name === 'c' && count.cells < MAX_CELLS) endCell();
      else if (name === 'row') endRow();
    },
    async pause() {
      for (const piece of ready.splice(0)) await sink.add(piece);
    },
  });
}

/** Cells in their columns, with wide gaps closed. */
function spread(cells: readonly Cell[]): string[] {
  const texts: string[] = [];
  let gaps = 0;
  let column = cells[0]?.column ?? 1;
  for (const cell of cells) {
    const gap = cell.column - column;
    if (gap <= MAX_GAP && gaps + gap <= MAX_GAPS) {
      gaps += Math.max(0, gap);
      for (let at = 0; at < gap; at++) texts.push('');
    }
    texts.push(cell.text);
    column = cell.column + 1;
  }
  return texts;
}

function columnOf(reference: string | undefined): number | null {
  const letters = reference?.match(/^[A-Z]{1,3}/)?.[0];
  if (!letters) return null;
  return [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0);
}

export function columnName(column: number): string {
  let name = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}
