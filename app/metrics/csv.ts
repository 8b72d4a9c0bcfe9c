import type { Run } from '../protocol/index.ts';

const columns = [
  'id',
  'batch',
  'at',
  'model',
  'backEnd',
  'engine',
  'promptTokens',
  'cachedTokens',
  'tokens',
  'prefill',
  'decode',
  'firstTokenMs',
  'memoryBytes',
  'disturbed',
] as const satisfies (keyof Run)[];

/** RFC 4180, with times as ISO 8601. Text that a spreadsheet would evaluate as a formula is escaped. */
export function csvOf(runs: readonly Run[]): string {
  const cell = (run: Run, column: (typeof columns)[number]): string => {
    const value = column === 'at' ? new Date(run.at).toISOString() : run[column];
    const text = value === null ? '' : String(value);
    const safe = typeof value === 'string' && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return (
    [columns.join(','), ...runs.map((run) => columns.map((column) => cell(run, column)).join(','))].join('\r\n') +
    '\r\n'
  );
}
