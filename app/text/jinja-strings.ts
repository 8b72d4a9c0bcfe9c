import { str } from './jinja-python.ts';
import { integer, isList, isNumber, isText, list, missing, text, truth, type Value } from './jinja-values.ts';

type Method = (self: string, args: Value[]) => Value;

const textArgument = (args: Value[], i: number, method: string): string => {
  const value = args[i];
  if (!isText(value)) throw new TypeError(`${method}() argument ${i + 1} must be a string`);
  return value.value;
};
/** What Python strips: Unicode's white space and four separators, not the BOM that JavaScript counts. */
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

/** Methods of Python's str that the library has not, or has without their arguments. */
export const stringMethods: Readonly<Record<string, Method>> = {
  strip: stripped('both'),
  lstrip: stripped('start'),
  rstrip: stripped('end'),
  join: (self, [items]) => {
    if (isText(items)) return text([...items.value].join(self));
    if (!isList(items)) throw new TypeError('join() argument must be a list');
    return text(items.value.map(str).join(self));
  },
  find: (self, args) => integer(self.indexOf(textArgument(args, 0, 'find'))),
  rfind: (self, args) => integer(self.lastIndexOf(textArgument(args, 0, 'rfind'))),
  index: (self, args) => {
    const at = self.indexOf(textArgument(args, 0, 'index'));
    if (at < 0) throw new Error('substring not found');
    return integer(at);
  },
  count: (self, args) => integer(self.split(textArgument(args, 0, 'count')).length - 1),
  removeprefix: (self, args) => {
    const prefix = textArgument(args, 0, 'removeprefix');
    return text(self.startsWith(prefix) ? self.slice(prefix.length) : self);
  },
  removesuffix: (self, args) => {
    const suffix = textArgument(args, 0, 'removesuffix');
    return text(suffix !== '' && self.endsWith(suffix) ? self.slice(0, -suffix.length) : self);
  },
  rsplit: (self, args) => {
    const separator = textArgument(args, 0, 'rsplit');
    const most = isNumber(args[1]) ? args[1].value : -1;
    const parts = self.split(separator);
    const kept = most < 0 ? 0 : Math.max(0, parts.length - most);
    const head = kept > 1 ? [parts.slice(0, kept).join(separator), ...parts.slice(kept)] : parts;
    return list(head.map(text));
  },
  partition: (self, args) => list(cut(self, self.indexOf(textArgument(args, 0, 'partition')), args).map(text)),
  rpartition: (self, args) => {
    const separator = textArgument(args, 0, 'rpartition');
    const at = self.lastIndexOf(separator);
    return list((at < 0 ? ['', '', self] : cut(self, at, args)).map(text));
  },
  splitlines: (self) => {
    const lines = self.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
    if (lines.at(-1) === '') lines.pop();
    return list(lines.map(text));
  },
  isdigit: (self) => truth(/^\d+$/.test(self)),
  isalpha: (self) => truth(/^\p{L}+$/u.test(self)),
  isspace: (self) => truth(self !== '' && self.trim() === ''),
  format: (self, args) => {
    let next = 0;
    return text(self.replace(/\{(\d*)\}/g, (_, at) => str(args[at === '' ? next++ : Number(at)] ?? missing)));
  },
};

function cut(self: string, at: number, args: Value[]): string[] {
  const separator = textArgument(args, 0, 'partition');
  return at < 0 ? [self, '', ''] : [self.slice(0, at), separator, self.slice(at + separator.length)];
}
