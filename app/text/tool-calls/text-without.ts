//  Texts in which something does not occur, as regular expressions that an automaton can follow byte by byte.

/** Any text in which this marker does not occur; null: any at all. The first character of a marker must not come again in it. */
export function textWithout(marker: string | null): string {
  if (marker === null) return '[\\s\\S]*';
  const [first = '', ...rest] = marker;
  if (first === '' || rest.includes(first)) throw new Error(`[grammar] "${marker}" repeats its first character`);
  const others = `[^${escaped(first)}]`;
  // Behind the first character: as much of the rest as is not all of it, then something else.
  const behind = rest.reduceRight((inner, character) => {
    const away = `[^${escaped(first)}${escaped(character)}]${others}*`;
    return `(?:${inner === '' ? '' : `${escaped(character)}${inner}|`}${away})?`;
  }, '');
  return `${others}*(?:${escaped(first)}${behind})*`;
}

/** Any text whose first character that is no white space is none of these. */
export const textBeginningWithout = (characters: string): string =>
  `\\s*(?:[^\\s${[...characters].map(escaped).join('')}][\\s\\S]*)?`;

const escaped = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
