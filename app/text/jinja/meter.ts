/** Limits of a template: a chat of 10,000 messages takes 800,000 steps. Both are counted, not timed, so that a template fails
 *  the same way on every machine. */
export type TemplateLimits = { readonly steps: number; readonly characters: number };
export const TEMPLATE_LIMITS: TemplateLimits = { steps: 1_000_000, characters: 64_000_000 };

/** An error of the template: bad syntax, `raise_exception`, a limit. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Charges costs before anything is built: a single step may request gigabytes.
 *  All methods throw TemplateError when the limit is reached. */
export type Meter = {
  /** Interpreter steps, and values created. */
  spend(steps: number): void;
  /** Characters of new text. */
  write(characters: number): void;
  /** Characters read. */
  read(characters: number): void;
};

/** Number of characters whose reading takes about as long as a step. */
const CHARACTERS_A_STEP = 500;

export function createMeter(limits: TemplateLimits): Meter {
  let steps = 0;
  let characters = 0;
  const spend = (more: number) => {
    steps += more;
    if (!(steps <= limits.steps)) throw new TemplateError(`stopped after ${limits.steps} steps`);
  };
  return {
    spend,
    write(more) {
      characters += more;
      if (!(characters <= limits.characters)) throw new TemplateError(`stopped after ${limits.characters} characters`);
    },
    read: (more) => spend(Math.floor(more / CHARACTERS_A_STEP)),
  };
}
