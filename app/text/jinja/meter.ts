/** What a template may spend: a chat of 10 000 messages takes 800 000 steps. Both are counted, so that the same template fails
 *  the same way on every machine. */
export type TemplateLimits = { readonly steps: number; readonly characters: number };
export const TEMPLATE_LIMITS: TemplateLimits = { steps: 1_000_000, characters: 64_000_000 };

/** A failure of the template's own making: bad syntax, `raise_exception`, a limit. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Counts what a template spends, before it is built: one step of its own may ask for gigabytes.
 *  All throw TemplateError when the limit is reached. */
export type Meter = {
  /** Steps of the interpreter, and values that it makes. */
  spend(steps: number): void;
  /** Characters that are written anew. */
  write(characters: number): void;
  /** Characters that are looked at. */
  read(characters: number): void;
};

/** Reading so many characters takes about as long as a step. */
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
