import { parseArgs } from 'node:util';
import { type Command, type Flag, UsageError } from './command.ts';

export type Parsed = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly words: readonly string[];
  readonly json: boolean;
  readonly help: boolean;
};

/** @throws UsageError that names the flag and what is allowed */
export function parse(command: Command, argv: readonly string[]): Parsed {
  const names = Object.entries(command.flags).flatMap(([name, { was }]) => [
    [name, name] as const,
    ...(was ? [[was, name] as const] : []),
  ]);
  const nameOf = new Map(names);
  const options = Object.fromEntries(
    names.map(([given, name]) => {
      const kind = command.flags[name]?.kind;
      return [given, { type: kind === 'yes' ? ('boolean' as const) : ('string' as const), multiple: kind === 'texts' }];
    }),
  );
  try {
    const { values, positionals } = parseArgs({
      args: withNegativeNumbers(argv),
      options: { ...options, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    const { json = false, help = false, ...given } = values;
    const converted = Object.entries(given).map(([word, value]) => {
      const name = nameOf.get(word) ?? word;
      return [name, convert(word, command.flags[name] as Flag, value as string | boolean | string[])];
    });
    if (!help) checkWords(command, positionals);
    return { values: Object.fromEntries(converted), words: positionals, json: json === true, help: help === true };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const message = error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error);
    throw new UsageError(`[${command.name}] ${message}`);
  }
}

/** `--seed -1` is a value, not a flag: parseArgs requires `--seed=-1`. */
function withNegativeNumbers(argv: readonly string[]): string[] {
  const out: string[] = [];
  for (const word of argv) {
    const before = out.at(-1);
    if (/^-\d/.test(word) && before?.startsWith('--') && !before.includes('='))
      out[out.length - 1] = `${before}=${word}`;
    else out.push(word);
  }
  return out;
}

function convert(name: string, flag: Flag, value: string | boolean | string[]): unknown {
  if (typeof value !== 'string') return value;
  const refuse = (allowed: string) => new UsageError(`[--${name}] got "${value}", expected ${allowed}`);
  if (flag.oneOf && !flag.oneOf.includes(value)) throw refuse(flag.oneOf.join(' or '));
  if (flag.kind === 'text') return value;
  if (flag.kind === 'ids') {
    const ids = value.split(',').map((word) => word.trim());
    if (!ids.every((id) => /^\d{1,9}$/.test(id))) throw refuse('a list of token ids, for example 1,2,3');
    return ids.map(Number);
  }
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) throw refuse('a number');
  if (flag.kind === 'count' && !(Number.isInteger(number) && number >= 0)) throw refuse('a whole number, 0 or more');
  return number;
}

function checkWords({ name, usage, words: [least, most] = [0, 0] }: Command, words: readonly string[]): void {
  if (words.length >= least && words.length <= most) return;
  const allowed = least === most ? `${least}` : `${least} to ${most}`;
  throw new UsageError(
    `[${name}] expected ${allowed} arguments, got ${words.length}: ${words.join(' ')}\nusage: longhand ${name} ${usage}`,
  );
}

export function helpOf({ name, usage, summary, flags }: Command): string {
  const rows = Object.entries({ ...flags, json: JSON_FLAG, help: HELP_FLAG }).map(([flag, { value, help }]) => [
    `  --${flag}${value ? ` ${value}` : ''}`,
    help,
  ]);
  return `${`longhand ${name} ${usage}`.trim()}\n\n${summary}\n\n${table(rows)}\n`;
}
const JSON_FLAG: Flag = { kind: 'yes', help: 'print one JSON object to stdout' };
const HELP_FLAG: Flag = { kind: 'yes', help: 'show this help' };

export function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [`  ${name}`, summary]);
  return `longhand COMMAND [--help]\n\n${table(rows)}\n\nMODEL is a safetensors folder, a .gguf file, "assistant" or "starter".\n`;
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
