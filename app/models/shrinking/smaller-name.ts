import type { ShrinkForm } from '../../protocol/index.ts';

/** What says how a model is stored, at the end of its name. */
const STORED = /[\s_-]+(I?Q\d\w*|B?F(16|32)|\d-?bit)$/i;

/** The name of a smaller version: that of the original with its form, and a number if it is taken. */
export function smallerName(original: string, form: ShrinkForm, taken: readonly string[]): string {
  const label = form.format === 'mlx' ? `${form.bits}-bit` : form.type;
  const name = `${original.replace(STORED, '')} ${label}`;
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? name : `${name} (${number})`;
    if (!taken.includes(numbered)) return numbered;
  }
}
