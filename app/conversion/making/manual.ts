import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pages of the manual in `folder`: the last third is for evaluation, the rest for calibration. */
export function manual(folder: string, which: 'calibrate' | 'measure'): string {
  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort();
  const cut = Math.ceil((2 * pages.length) / 3);
  const chosen = which === 'calibrate' ? pages.slice(0, cut) : pages.slice(cut);
  return chosen.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}
