import { attribute, walkXml } from './xml.ts';

/** Formats a cell value; `type` and `style` as in the sheet. */
export type Formatter = (value: string, type: string, style: number) => string;

type Shape = 'plain' | 'percent' | 'date' | 'time' | 'date-time';

/** Built-in number formats without a format string (ECMA-376, part 1, 18.8.30). */
const BUILT_IN: Record<number, Shape> = {
  9: 'percent',
  10: 'percent',
  14: 'date',
  15: 'date',
  16: 'date',
  17: 'date',
  18: 'time',
  19: 'time',
  20: 'time',
  21: 'time',
  22: 'date-time',
  45: 'time',
  46: 'time',
  47: 'time',
};

export async function createFormatter(styles: string | null, date1904: boolean): Promise<Formatter> {
  const shapes = await shapesOf(styles);
  return (value, type, style) => {
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    if (type !== 'n' || value === '') return value;
    const number = Number(value);
    if (!Number.isFinite(number)) return value;
    const shape = shapes[style] ?? 'plain';
    if (shape === 'percent') return `${tidy(number * 100)}%`;
    return shape === 'plain' ? tidy(number) : moment(number, shape, date1904);
  };
}

/** 0.30000000000000004 is shown as 0.3: sheets keep 15 digits. */
const tidy = (number: number): string => String(Number(number.toPrecision(15)));

/** Days since the end of 1899, including the non-existent 29 February 1900; or since the beginning of 1904. */
function moment(days: number, shape: Shape, date1904: boolean): string {
  const start = date1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const at = new Date(start + Math.round(days * 86_400) * 1000);
  if (Number.isNaN(at.getTime())) return tidy(days);
  const [date = '', time = ''] = at.toISOString().slice(0, 19).split('T');
  const clock = time.endsWith(':00') ? time.slice(0, 5) : time;
  return shape === 'date' ? date : shape === 'time' ? clock : `${date} ${clock}`;
}

/** The shape of every style, by its index. */
async function shapesOf(styles: string | null): Promise<Shape[]> {
  const own = new Map<number, Shape>();
  const shapes: Shape[] = [];
  let inCells = false;
  await walkXml(styles === null ? [] : [styles], {
    open(name, attributes) {
      const id = Number(attribute(attributes, 'numFmtId'));
      if (name === 'numFmt') own.set(id, shapeOf(attributes.formatCode ?? ''));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) shapes.push(own.get(id) ?? BUILT_IN[id] ?? 'plain');
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return shapes;
}

function shapeOf(code: string): Shape {
  // Literals, colours and conditions do not affect the type of the value.
  const signs = code.replace(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]/gi, '').toLowerCase();
  if (signs.includes('%')) return 'percent';
  const date = /[yd]/.test(signs);
  const time = /[hs]/.test(signs);
  return date && time ? 'date-time' : date || (/m/.test(signs) && !time) ? 'date' : time ? 'time' : 'plain';
}
