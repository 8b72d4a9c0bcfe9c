import { isList, isMapping, isNumber, isText, isTuple, type Value } from './jinja-values.ts';

/** str(value) of Python: what `{{ value }}` writes. */
export function str(value: Value): string {
  if (isText(value)) return value.value;
  if (value.type === 'UndefinedValue') return '';
  return repr(value);
}

/** repr(value) of Python. */
export function repr(value: Value): string {
  if (isText(value)) return quoted(value.value);
  if (isNumber(value)) return numeral(value);
  if (value.type === 'BooleanValue') return value.value ? 'True' : 'False';
  if (value.type === 'NullValue') return 'None';
  if (value.type === 'UndefinedValue') return 'Undefined';
  if (isList(value)) return sequence(value);
  if (isMapping(value)) return `{${[...value.value].map(([key, item]) => `${quoted(key)}: ${repr(item)}`).join(', ')}}`;
  return `<${value.type}>`;
}

function sequence(value: Value & { value: Value[] }): string {
  const items = value.value.map(repr);
  if (!isTuple(value)) return `[${items.join(', ')}]`;
  return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
}

/** Python's choice of quotes and escapes. */
function quoted(value: string): string {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const body = value.replace(/[\\\n\r\t'\p{Cc}]/gu, (c) => {
    if (c === "'") return quote === "'" ? "\\'" : c;
    const short = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[c];
    return short ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return quote + body + quote;
}

/** Floats keep their point: 2.0. Python writes 1e+16 where JavaScript still writes digits. */
function numeral(value: Value & { value: number }): string {
  const number = value.value;
  if (value.type === 'IntegerValue') return digits(number);
  if (Number.isNaN(number)) return 'nan';
  if (!Number.isFinite(number)) return number > 0 ? 'inf' : '-inf';
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return number.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(number) ? `${Object.is(number, -0) ? '-' : ''}${number}.0` : String(number);
}

/** Integers are written out, whatever their size. */
const digits = (number: number): string =>
  Number.isSafeInteger(number) || !Number.isFinite(number) ? String(number) : BigInt(Math.trunc(number)).toString();

export type JsonStyle = { indent: string | null; ascii: boolean; sort: boolean; separators: [string, string] };

/** json.dumps of Python, as transformers sets it up for templates (ensure_ascii off). */
export function json(value: Value, style: JsonStyle, depth = 0): string {
  if (isText(value)) return jsonText(value.value, style);
  if (isNumber(value)) return numeral(value).replace('nan', 'NaN').replace('inf', 'Infinity');
  if (value.type === 'BooleanValue') return value.value ? 'true' : 'false';
  if (value.type === 'NullValue') return 'null';
  if (isList(value))
    return enclosed(
      '[',
      value.value.map((item) => json(item, style, depth + 1)),
      ']',
      style,
      depth,
    );
  if (!isMapping(value)) throw new TypeError(`Object of type ${value.type} is not JSON serializable`);
  const entries = [...value.value];
  if (style.sort) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const items = entries.map(
    ([key, item]) => `${jsonText(key, style)}${style.separators[1]}${json(item, style, depth + 1)}`,
  );
  return enclosed('{', items, '}', style, depth);
}

function jsonText(value: string, style: JsonStyle): string {
  const text = JSON.stringify(value);
  if (!style.ascii) return text;
  return text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function enclosed(open: string, items: string[], close: string, style: JsonStyle, depth: number): string {
  if (items.length === 0 || style.indent === null) return open + items.join(style.separators[0]) + close;
  const outer = `\n${style.indent.repeat(depth)}`;
  const inner = outer + style.indent;
  return open + inner + items.join(style.separators[0].trimEnd() + inner) + outer + close;
}

/** a == b of Python for values of the language: by content, True == 1. */
export function equal(a: Value, b: Value): boolean {
  if (isList(a) && isList(b)) {
    const other = b.value;
    return (
      isTuple(a) === isTuple(b) && a.value.length === other.length && a.value.every((item, i) => same(item, other[i]))
    );
  }
  if (isMapping(a) && isMapping(b)) {
    const other = b.value;
    return a.value.size === other.size && [...a.value].every(([key, item]) => same(item, other.get(key)));
  }
  const number = (value: Value) => (value.type === 'BooleanValue' ? Number(value.value) : value.value);
  if (a.type === 'NullValue' || b.type === 'NullValue') return a.type === b.type;
  return number(a) === number(b);
}

const same = (a: Value, b: Value | undefined): boolean => b !== undefined && equal(a, b);
