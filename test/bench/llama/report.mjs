// The results as a table for people and as a chart, and those of all processors side by side.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromCsv } from './table.mjs';

const whole = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
const shown = ({ median, least, most }) => `${whole(median)} (${whole(least)}–${whole(most)})`;
const ratio = (value) =>
  value ? `${value.median.toFixed(2)} (${value.least.toFixed(2)}–${value.most.toFixed(2)})` : '–';
const percent = (share) => (share === null ? '–' : `${(100 * share).toFixed(0)} %`);

/** A column of the table, and a row's cell in it. */
const CELLS = {
  model: (row) => `${row.model}, ${row.read} + ${row.write}`,
  threads: (row) => row.threads,
  'prefill, tok/s': (row) => shown(row.prefill),
  '× llama.cpp': (row) => ratio(row.prefillRatio),
  'of the peak products': (row) => percent(row.productShare),
  'decode, tok/s': (row) => shown(row.decode),
  '× llama.cpp ': (row) => ratio(row.decodeRatio),
  'of the peak bandwidth': (row) => percent(row.bandwidthShare),
  'load, ms': (row) => shown(row.loadMs),
  'peak memory, MB': (row) => (row.memory.most / 1e6).toFixed(0),
  '× llama.cpp  ': (row) => (row.memoryRatio ? row.memoryRatio.median.toFixed(2) : '–'),
  pairs: (row) => row.pairs,
  load: (row) => row.load.toFixed(1),
  measured: (row) => `${row.date} ${row.commit}, ${row.instructions}`,
};

function peaksLine(peaks) {
  const told = Object.entries(peaks).filter(([, peak]) => peak);
  if (told.length === 0) return '';
  const words = told.map(
    ([threads, { read, products }]) =>
      `${threads} thread(s) ${(read / 1e9).toFixed(1)} GB/s, ${(products / 1e9).toFixed(0)} G products/s`,
  );
  return `\nPeaks measured at the last run: ${words.join('; ')}.\n`;
}

/** `about` describes the last run: cpu, flags, peaks, loop (µs per token), and the rows it had no time for. */
export function markdown(rows, about) {
  const lines = rows.map(
    (row) =>
      `| ${Object.values(CELLS)
        .map((read) => read(row))
        .join(' | ')} |`,
  );
  const left = about.left.length > 0 ? `\nNot measured, for the time was over: ${about.left.join('; ')}.\n` : '';
  return `# ${about.cpu}

\`npm run bench\`: interleaved pairs, ours beside llama.cpp (node-llama-cpp) on the same file and threads; median (least–most).
Names with a shape are files of random weights in published shapes. Node ${process.version}. Instruction sets: ${about.flags}.
${peaksLine(about.peaks)}
| ${Object.keys(CELLS)
    .map((name) => name.trim())
    .join(' | ')} |
|${'---|'.repeat(Object.keys(CELLS).length)}
${lines.join('\n')}

Loop detector: ${about.loop.toFixed(2)} µs of one processor a token.
${left}`;
}

/** What the overview shows: the most telling rows. */
const OVERVIEW = [
  ['SmolLM2-135M Q4_1', 128],
  ...['Qwen3-0.6B Q4_0', 'Qwen3-0.6B Q4_K_M', 'Qwen3.5-0.8B Q4_0', 'Qwen3.5-0.8B Q8_0'].map((model) => [model, 512]),
  ...['LFM2-1.2B Q4_0', 'LFM2-1.2B Q4_K_M', 'Qwen3.5-2B Q4_0'].map((model) => [model, 512]),
];

/** Medians of two threads as times llama.cpp, "read / written", a column for each processor and instruction set in `folder`. */
export function overview(folder) {
  const columns = new Map();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.csv'))) {
    const [, cpu = file] = /^# (.*)$/m.exec(readFileSync(join(folder, file.replace(/csv$/, 'md')), 'utf8')) ?? [];
    for (const row of fromCsv(readFileSync(join(folder, file), 'utf8'))) {
      if (row.threads !== 2 || !row.prefillRatio) continue;
      const name = `${cpu}, ${row.instructions}`;
      const cell = `${row.prefillRatio.median.toFixed(1)} / ${row.decodeRatio.median.toFixed(1)}`;
      columns.set(name, { ...columns.get(name), [`${row.model} ${row.read}`]: cell });
    }
  }
  const lines = OVERVIEW.map(([model, read]) => {
    const cells = [...columns.values()].map((column) => column[`${model} ${read}`] ?? '');
    return `| ${[`${model}, ${read} read`, ...cells].join(' | ')} |`;
  });
  return `| × llama.cpp, read / written | ${[...columns.keys()].join(' | ')} |\n|${'---|'.repeat(columns.size + 1)}\n${lines.join('\n')}\n`;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Bars of speed relative to llama.cpp: prefill above decode, a line at 1. Null if nothing was compared. */
export function chart(rows, about) {
  const compared = rows.filter(({ prefillRatio }) => prefillRatio);
  if (compared.length === 0) return null;
  const [left, width, height, top] = [330, 420, 46, 54];
  const most = Math.max(2, ...compared.flatMap((row) => [row.prefillRatio.median, row.decodeRatio.median]));
  const x = (value) => left + (value / most) * width;
  const bar = (value, y, colour) =>
    `<rect x="${left}" y="${y}" width="${(x(value) - left).toFixed(1)}" height="15" fill="${colour}"/>` +
    `<text x="${(x(value) + 5).toFixed(1)}" y="${y + 12}">${value.toFixed(2)}</text>`;
  const bars = compared.map((row, i) => {
    const y = top + i * height;
    const name = `${row.model}, ${row.read} + ${row.write}, ${row.threads} thr.`;
    return (
      `<text x="${left - 8}" y="${y + 22}" text-anchor="end">${escaped(name)}</text>` +
      bar(row.prefillRatio.median, y, '#3b6ea8') +
      bar(row.decodeRatio.median, y + 17, '#c8783c')
    );
  });
  const bottom = top + compared.length * height;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 60} ${bottom + 12}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="22" font-size="14">${escaped(`Speed, llama.cpp = 1: ${about.cpu}`)}</text>
<text x="12" y="42"><tspan fill="#3b6ea8">prefill</tspan> <tspan fill="#c8783c">decode</tspan></text>
${bars.join('\n')}
<line x1="${x(1).toFixed(1)}" y1="${top - 6}" x2="${x(1).toFixed(1)}" y2="${bottom}" stroke="#555555" stroke-dasharray="4 3"/>
</svg>
`;
}
