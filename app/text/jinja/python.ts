import type { Meter } from './meter.ts';
import { isList, isMapping, isNumber, isText, isTuple, type Value } from './values.ts';

/** Python's str(value): the output of `{{ value }}`. */
export function str(value: Value, meter: Meter): string {
  if (isText(value)) return value.value;
  if (value.type === 'UndefinedValue') return '';
  return repr(value, meter);
}

/** Python's repr(value). Lists may contain each other many times, so every part is charged as it is written. */
export function repr(value: Value, meter: Meter): string {
  meter.spend(1);
  if (isText(value)) return quoted(value.value, meter);
  if (isNumber(value)) return numeral(value);
  if (value.type === 'BooleanValue') return value.value ? 'True' : 'False';
  if (value.type === 'NullValue') return 'None';
  if (value.type === 'UndefinedValue') return 'Undefined';
  if (isList(value)) return sequence(value, meter);
  if (!isMapping(value)) return `<${value.type}>`;
  const items = [...value.value].map(([key, item]) => `${quoted(key, meter)}: ${repr(item, meter)}`);
  return joined(items, ', ', '{', '}', meter);
}

function sequence(value: Value & { value: Value[] }, meter: Meter): string {
  const items = value.value.map((item) => repr(item, meter));
  if (!isTuple(value)) return joined(items, ', ', '[', ']', meter);
  return items.length === 1 ? joined(items, '', '(', ',)', meter) : joined(items, ', ', '(', ')', meter);
}

/** Every nesting level copies its contents once more. */
function joined(items: string[], separator: string, open: string, close: string, meter: Meter): string {
  meter.write(lengthOf(items, separator) + open.length + close.length);
  return open + items.join(separator) + close;
}

/** Total length of the texts with separators. */
export const lengthOf = (items: readonly string[], separator: string): number =>
  items.reduce((sum, item) => sum + item.length, Math.max(0, items.length - 1) * separator.length);

/** Python's choice of quotes and escapes. */
function quoted(value: string, meter: Meter): string {
  meter.write(value.length);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const body = value.replace(/[\\\n\r\t'\p{Cc}]/gu, (c) => {
    if (c === "'") return quote === "'" ? "\\'" : c;
    const short = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }[c];
    return short ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return quote + body + quote;
}

/** Floats keep their point: 2.0. Python switches to exponents at 1e+16, earlier than JavaScript. */
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

/** Integers are never written with an exponent. */
const digits = (number: number): string =>
  Number.isSafeInteger(number) || !Number.isFinite(number) ? String(number) : BigInt(Math.trunc(number)).toString();

export type JsonStyle = { indent: string | null; ascii: boolean; sort: boolean; separators: [string, string] };

/** json.dumps of Python, as transformers sets it up for templates (ensure_ascii off). */
export function json(value: Value, style: JsonStyle, meter: Meter, depth = 0): string {
  meter.spend(1);
  if (isText(value)) return jsonText(value.value, style, meter);
  if (isNumber(value)) return numeral(value).replace('nan', 'NaN').replace('inf', 'Infinity');
  if (value.type === 'BooleanValue') return value.value ? 'true' : 'false';
  if (value.type === 'NullValue') return 'null';
  if (isList(value)) {
    const items = value.value.map((item) => json(item, style, meter, depth + 1));
    return enclosed('[', items, ']', style, depth, meter);
  }
  if (!isMapping(value)) throw new TypeError(`Object of type ${value.type} is not JSON serializable`);
  const entries = [...value.value];
  if (style.sort) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const items = entries.map(
    ([key, item]) => `${jsonText(key, style, meter)}${style.separators[1]}${json(item, style, meter, depth + 1)}`,
  );
  return enclosed('{', items, '}', style, depth, meter);
}

function jsonText(value: string, style: JsonStyle, meter: Meter): string {
  meter.write(value.length);
  const text = JSON.stringify(value);
  if (!style.ascii) return text;
  return text.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function enclosed(open: string, items: string[], close: string, style: JsonStyle, depth: number, meter: Meter): string {
  if (items.length === 0 || style.indent === null) return joined(items, style.separators[0], open, close, meter);
  meter.write((depth + 1) * style.indent.length);
  const outer = `\n${style.indent.repeat(depth)}`;
  const inner = outer + style.indent;
  return joined(items, style.separators[0].trimEnd() + inner, open + inner, outer + close, meter);
}

/** Python's a == b for template values: by content, True == 1. */
export function equal(a: Value, b: Value, meter: Meter): boolean {
  meter.spend(1);
  const same = (one: Value, other: Value | undefined): boolean => other !== undefined && equal(one, other, meter);
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
  if (isText(a) && isText(b)) meter.read(Math.min(a.value.length, b.value.length));
  return number(a) === number(b);
}
