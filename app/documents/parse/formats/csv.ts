import Papa from 'papaparse';
import { type Reader, row } from '../../element.ts';
import { readText } from './decode.ts';
import { columnName } from './xlsx.ts';

const MAX_CELLS = 1_000_000;

/** Values separated by commas, semicolons, tabs or bars, quoted or not. */
export const readCsv: Reader = async (source, sink) => {
  const text = await readText(source, sink);
  const { data } = Papa.parse<string[]>(text, {
    skipEmptyLines: false,
    delimiter: source.fileName.endsWith('.tsv') ? '\t' : '',
    // Every row has at least one cell.
    preview: MAX_CELLS + 1,
  });
  let count = 0;
  let rows = 0;
  for (const [at, values] of data.entries()) {
    const left = MAX_CELLS - count;
    const cells = values.slice(0, left).map((value) => value.replace(/\s+/g, ' ').trim());
    count += values.length;
    if (cells.every((cell) => cell === '')) continue;
    const names = cells.length > 1 && cells.every((cell) => !/^[-+]?[\d.,]+%?$/.test(cell));
    const range = `A${at + 1}:${columnName(cells.length)}${at + 1}`;
    await sink.add(row(cells, { kind: 'cells', sheet: '', range }, rows++ === 0 && names));
    if (count <= MAX_CELLS) continue;
    sink.notice('cells-cut', { limit: MAX_CELLS });
    break;
  }
  return { title: null, pages: null };
};
