import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { LonghandError } from '../../../protocol/index.ts';
import type { Estimate } from '../../../quality/interval.ts';
import type { Scorer } from '../../../quality/scorer.ts';
import type { ModelText } from '../../../text/model-text.ts';
import type { Context } from '../../runtime/command.ts';
import type { Opened } from '../../runtime/open-model.ts';

export type Evaluated = { opened: Opened; text: ModelText; score: Scorer; path: 'exact' | 'fast' | undefined };

/** A measurement as JSON and as human-readable lines. */
export type Report = { json: object; lines: string[] };

export function fileOf(context: Context, name: string): string {
  const path = resolve(context.places.here, name);
  if (!existsSync(path) || !statSync(path).isFile())
    throw new LonghandError('bad-request', `[eval] ${path} is not a file`);
  return readFileSync(path, 'utf8');
}

export const progressOf = (context: Context, what: string, of: number) => {
  const bar = context.terminal.progress(what);
  return { show: (done: number) => bar.show(done, of), end: () => bar.end() };
};

export const rounded = ({ value, low, high }: Estimate) => ({
  value,
  ...(Number.isFinite(low) && Number.isFinite(high) && { low, high }),
});
export const shown = ({ value, low, high }: Estimate, digits = 3): string =>
  Number.isFinite(low)
    ? `${value.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`
    : value.toFixed(digits);
export const percent = ({ value, low, high }: Estimate): string =>
  `${(100 * value).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`;
