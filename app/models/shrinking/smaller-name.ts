import type { Goal } from '../../conversion/process/messages.ts';

/** What says how a model is stored, at the end of its name. */
const STORED = /[\s_-]+(I?Q\d\w*|B?F(16|32)|\d-?bit)$/i;

function labelOf(goal: Goal): string {
  if (goal.kind === 'context') return 'latent';
  return goal.form.format === 'mlx' ? `${goal.form.bits}-bit` : goal.form.type;
}

/** The name of what is made of a model: that of the original with its form, and a number if it is taken. */
export function smallerName(original: string, goal: Goal, taken: readonly string[]): string {
  const name = `${original.replace(STORED, '')} ${labelOf(goal)}`;
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? name : `${name} (${number})`;
    if (!taken.includes(numbered)) return numbered;
  }
}
