//  JSON that is cheap to send and expensive to parse. `fill(n)`: one value of about n bytes.

const list = (unit: string) => (bytes: number) =>
  `[${unit.repeat(Math.max(1, Math.floor(bytes / (unit.length + 1)) - 1)).slice(0, -1)}]`;
const repeated = (unit: string) => list(`${unit},`);
const nested = (open: string, middle: string, close: string) => (bytes: number) => {
  const depth = Math.floor(bytes / (open.length + close.length));
  return open.repeat(depth) + middle + close.repeat(depth);
};
const keys = (name: (at: number) => string, value: string) => (bytes: number) => {
  const parts: string[] = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const part = `${JSON.stringify(name(at))}:${value}`;
    length += part.length + 1;
    parts.push(part);
  }
  return `{${parts.join(',')}}`;
};

export const BULK: Readonly<Record<string, (bytes: number) => string>> = {
  'lists without end': repeated('[]'),
  'objects without end': repeated('{}'),
  'objects in lists': repeated('[{"a":[{}]}]'),
  'numbers without end': repeated('0'),
  'long numbers': repeated('0.1234567890123456789e-300'),
  'one number of megabytes': (bytes) => `1${'0'.repeat(bytes)}`,
  'empty texts': repeated('""'),
  'texts of one letter': repeated('"é"'),
  nulls: repeated('null'),
  'depth of lists': nested('[', '1', ']'),
  'depth of objects': nested('{"a":', '1', '}'),
  'depth without an end': (bytes) => '['.repeat(bytes),
  'keys without number': keys((at) => `k${at}`, '0'),
  'keys that are numbers': keys((at) => String(at * 7919), '0'),
  'keys of prototypes': keys((at) => ['__proto__', 'constructor', 'toString'][at % 3] ?? '', '{}'),
  'the same key again': keys(() => 'a', '[]'),
  'one text of megabytes': (bytes) => `"${'x'.repeat(bytes)}"`,
  'one text of quotes': (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  'one text of escapes': (bytes) => `"${'\\u0000'.repeat(bytes / 6)}"`,
  'one text of halves of letters': (bytes) => `"${'\\ud800'.repeat(bytes / 6)}"`,
  'one text of line breaks': (bytes) => `"${'\\n'.repeat(bytes / 2)}"`,
  'one text of marks': (bytes) => `"${'é́'.repeat(bytes / 4)}"`,
  blanks: (bytes) => `${' '.repeat(bytes)}1`,
  'a text that does not end': (bytes) => `"${'x'.repeat(bytes)}`,
  'backslashes that do not end': (bytes) => `"${'\\\\'.repeat(bytes / 2)}`,
};
