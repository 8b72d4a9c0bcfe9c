import type { Meter } from './meter.ts';
import { lengthOf, str } from './python.ts';
import { integer, isList, isNumber, isText, list, missing, text, truth, tuple, type Value } from './values.ts';

/** Methods charge large results before building them; the interpreter charges results as well. */
type Method = (self: string, args: Value[], meter: Meter) => Value;

const textArgument = (args: Value[], i: number, method: string): string => {
  const value = args[i];
  if (!isText(value)) throw new TypeError(`${method}() argument ${i + 1} must be a string`);
  return value.value;
};
/** White space according to Python: Unicode's plus four separators, but not the BOM, unlike JavaScript. */
const isSpace = (c: string): boolean => '\x1c\x1d\x1e\x1f\x85'.includes(c) || (c !== '\ufeff' && c.trim() === '');

const stripped =
  (side: 'start' | 'end' | 'both'): Method =>
  (self, args) => {
    const set = isText(args[0]) ? [...args[0].value] : null;
    const drop = (at: number) => (set ? set.includes(self.charAt(at)) : isSpace(self.charAt(at)));
    let from = 0;
    let to = self.length;
    if (side !== 'end') while (from < to && drop(from)) ++from;
    if (side !== 'start') while (to > from && drop(to - 1)) --to;
    return text(self.slice(from, to));
  };

/** Methods of Python's str that the library lacks, or lacks arguments of. */
export const stringMethods: Readonly<Record<string, Method>> = {
  strip: stripped('both'),
  lstrip: stripped('start'),
  rstrip: stripped('end'),
  join: (self, [items], meter) => {
    if (isText(items)) return joined([...items.value], self, meter);
    if (!isList(items)) throw new TypeError('join() argument must be a list');
    return joined(
      items.value.map((item) => str(item, meter)),
      self,
      meter,
    );
  },
  split: (self, args, meter) => list(splitText(self, args, meter).map(text)),
  replace: (self, args, meter) => replaced(self, args, meter),
  find: (self, args) => integer(self.indexOf(textArgument(args, 0, 'find'))),
  rfind: (self, args) => integer(self.lastIndexOf(textArgument(args, 0, 'rfind'))),
  index: (self, args) => {
    const at = self.indexOf(textArgument(args, 0, 'index'));
    if (at < 0) throw new Error('substring not found');
    return integer(at);
  },
  count: (self, args) => {
    const part = textArgument(args, 0, 'count');
    return integer(part === '' ? self.length + 1 : occurrences(self, part, Number.POSITIVE_INFINITY));
  },
  removeprefix: (self, args) => {
    const prefix = textArgument(args, 0, 'removeprefix');
    return text(self.startsWith(prefix) ? self.slice(prefix.length) : self);
  },
  removesuffix: (self, args) => {
    const suffix = textArgument(args, 0, 'removesuffix');
    return text(suffix !== '' && self.endsWith(suffix) ? self.slice(0, -suffix.length) : self);
  },
  rsplit: (self, args, meter) => {
    const separator = textArgument(args, 0, 'rsplit');
    const most = isNumber(args[1]) ? args[1].value : -1;
    const parts = splitText(self, args.slice(0, 1), meter);
    const joined = most < 0 ? 0 : Math.max(0, parts.length - most);
    const head = joined > 1 ? [parts.slice(0, joined).join(separator), ...parts.slice(joined)] : parts;
    return list(head.map(text));
  },
  partition: (self, args) => tuple(cut(self, self.indexOf(textArgument(args, 0, 'partition')), args).map(text)),
  rpartition: (self, args) => {
    const separator = textArgument(args, 0, 'rpartition');
    const at = self.lastIndexOf(separator);
    return tuple((at < 0 ? ['', '', self] : cut(self, at, args)).map(text));
  },
  splitlines: (self, _, meter) => {
    meter.spend(occurrences(self, '\n', Number.POSITIVE_INFINITY));
    const lines = self.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
    if (lines.at(-1) === '') lines.pop();
    return list(lines.map(text));
  },
  isdigit: (self) => truth(/^\d+$/.test(self)),
  isalpha: (self) => truth(/^\p{L}+$/u.test(self)),
  isspace: (self) => truth(self !== '' && self.trim() === ''),
  format: (self, args, meter) => {
    let next = 0;
    const written = self.replace(/\{(\d*)\}/g, (_, at) => {
      const part = str(args[at === '' ? next++ : Number(at)] ?? missing, meter);
      meter.write(part.length);
      return part;
    });
    return text(written);
  },
};

function joined(parts: readonly string[], separator: string, meter: Meter): Value {
  meter.spend(parts.length);
  meter.write(lengthOf(parts, separator));
  return text(parts.join(separator));
}

/** Number of occurrences of the non-empty `part` in `self`, at most `most`. */
function occurrences(self: string, part: string, most: number): number {
  let count = 0;
  for (let at = self.indexOf(part); at >= 0 && count < most; at = self.indexOf(part, at + part.length)) ++count;
  return count;
}

/** `split(sep=None, maxsplit=-1)`: at white space, or at a separator. */
function splitText(self: string, args: Value[], meter: Meter): string[] {
  const most = isNumber(args[1]) && args[1].value >= 0 ? args[1].value : Number.POSITIVE_INFINITY;
  if (args[0] === undefined || args[0].type === 'NullValue') return words(self, most, meter);
  const separator = textArgument(args, 0, 'split');
  if (separator === '') throw new Error('empty separator');
  const cuts = occurrences(self, separator, most);
  meter.spend(cuts);
  const parts: string[] = [];
  let from = 0;
  for (let cut = 0; cut < cuts; ++cut) {
    const at = self.indexOf(separator, from);
    parts.push(self.slice(from, at));
    from = at + separator.length;
  }
  parts.push(self.slice(from));
  return parts;
}

function words(self: string, most: number, meter: Meter): string[] {
  const found: string[] = [];
  for (const { 0: word, index } of self.matchAll(/\S+/g)) {
    meter.spend(1);
    if (found.length >= most) return [...found, self.slice(index)];
    found.push(word);
  }
  return found;
}

/** `replace(old, new, count=-1)`. The result may be far longer than both texts. */
export function replaced(self: string, args: Value[], meter: Meter): Value {
  const old = textArgument(args, 0, 'replace');
  const fresh = textArgument(args, 1, 'replace');
  const count =
    args[2]?.type === 'KeywordArgumentsValue' ? (args[2].value as Map<string, Value>).get('count') : args[2];
  const most = isNumber(count) && count.value >= 0 ? count.value : Number.POSITIVE_INFINITY;
  if (old === '') return spaced(self, fresh, most, meter);
  const times = occurrences(self, old, most);
  meter.spend(times >> 2);
  meter.write(self.length + times * (fresh.length - old.length));
  const parts: string[] = [];
  let from = 0;
  for (let time = 0; time < times; ++time) {
    const at = self.indexOf(old, from);
    parts.push(self.slice(from, at), fresh);
    from = at + old.length;
  }
  return text(parts.join('') + self.slice(from));
}

/** Replacing the empty string inserts the new one before every character and at the end. */
function spaced(self: string, fresh: string, most: number, meter: Meter): Value {
  const characters = [...self];
  const times = Math.min(most, characters.length + 1);
  meter.write(self.length + times * fresh.length);
  const before = characters.map((character, i) => (i < times ? fresh + character : character));
  return text(before.join('') + (times > characters.length ? fresh : ''));
}

/** The filter `indent(width=4, first=false, blank=false)`. */
export function indented(
  self: string,
  { width, first, blank }: { width: number | string; first: boolean; blank: boolean },
  meter: Meter,
): Value {
  const size = typeof width === 'string' ? width.length : Math.max(0, width);
  const lines = occurrences(self, '\n', Number.POSITIVE_INFINITY) + 1;
  meter.spend(lines);
  meter.write(self.length + lines * size);
  const padding = typeof width === 'string' ? width : ' '.repeat(size);
  const out = self
    .split('\n')
    .map((line, i) => ((i === 0 && !first) || (line === '' && !blank) ? line : padding + line));
  return text(out.join('\n'));
}

function cut(self: string, at: number, args: Value[]): string[] {
  const separator = textArgument(args, 0, 'partition');
  return at < 0 ? [self, '', ''] : [self.slice(0, at), separator, self.slice(at + separator.length)];
}
