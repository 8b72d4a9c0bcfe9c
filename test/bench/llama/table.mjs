// The results as a CSV file that later runs add to: a row that is measured again replaces the old one.

/** A figure with its spread as three columns. */
const spread = (name, key) => [
  [name, (row) => row[key]?.median, (row, value) => set(row, key, 'median', value)],
  [`${name}_least`, (row) => row[key]?.least, (row, value) => set(row, key, 'least', value)],
  [`${name}_most`, (row) => row[key]?.most, (row, value) => set(row, key, 'most', value)],
];
const plain = (name, key = name, parse = (text) => text) => [
  [
    name,
    (row) => row[key],
    (row, text) => {
      row[key] = text === '' ? null : parse(text);
    },
  ],
];

function set(row, key, part, text) {
  if (text !== '') row[key] = { ...row[key], [part]: Number(text) };
}

const COLUMNS = [
  ...['date', 'commit', 'model'].flatMap((name) => plain(name)),
  ...['read', 'write', 'threads'].flatMap((name) => plain(name, name, Number)),
  ...plain('instructions'),
  ...['pairs', 'load'].flatMap((name) => plain(name, name, Number)),
  ...spread('prefill', 'prefill'),
  ...spread('prefill_ratio', 'prefillRatio'),
  ...plain('prefill_share', 'productShare', Number),
  ...spread('decode', 'decode'),
  ...spread('decode_ratio', 'decodeRatio'),
  ...plain('decode_share', 'bandwidthShare', Number),
  ...spread('first_token_ms', 'firstTokenMs'),
  ...spread('load_ms', 'loadMs'),
  ...spread('load_ratio', 'loadMsRatio'),
  ...spread('peak_memory', 'memory'),
  ...spread('memory_ratio', 'memoryRatio'),
];

const keyOf = ({ model, read, write, threads, instructions }) => [model, read, write, threads, instructions].join(' ');

const rounded = (value) => (typeof value === 'number' ? Number(value.toPrecision(5)) : (value ?? ''));

export const toCsv = (rows) =>
  [COLUMNS.map(([name]) => name), ...rows.map((row) => COLUMNS.map(([, read]) => rounded(read(row))))]
    .map((line) => `${line.join(',')}\n`)
    .join('');

/** The rows of a file with these columns; none if it has others. */
export function fromCsv(text) {
  const [head, ...lines] = text.trimEnd().split('\n');
  if (head !== COLUMNS.map(([name]) => name).join(',')) return [];
  return lines.map((line) => {
    const row = {};
    for (const [i, cell] of line.split(',').entries()) COLUMNS[i][2](row, cell);
    return row;
  });
}

export const merged = (old, fresh) => {
  const taken = new Set(fresh.map(keyOf));
  return [...old.filter((row) => !taken.has(keyOf(row))), ...fresh].toSorted(
    (a, b) =>
      a.model.localeCompare(b.model, 'en') ||
      a.threads - b.threads ||
      a.read - b.read ||
      keyOf(a).localeCompare(keyOf(b)),
  );
};
