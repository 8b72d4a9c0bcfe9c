import type { Tool } from '../../chat-template.ts';

/** The pieces of a call are JSON when put together, unless it was `cut`: broken off, or malformed from some point on. */
export type ArgumentEvent =
  | { kind: 'begin'; name: string }
  | { kind: 'arguments'; text: string }
  | { kind: 'end'; cut: boolean };

/** Reads the body of calls while it is written. Only what is surely a call of an offered tool begins, for it cannot be
 *  taken back; everything else is left to whoever reads the whole body. */
export type ArgumentStream = {
  /** `last`: the answer ends with this. */
  push(text: string, last: boolean): ArgumentEvent[];
};

export const isOffered = (name: string, tools: readonly Tool[]): boolean =>
  tools.some((tool) => tool.function.name === name);

/** Longer than any beginning of a call: by then it is known that this is none. */
export const MAX_HEAD = 1024;
