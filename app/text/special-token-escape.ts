import type { Segment, Tokenizer } from './tokenizer/tokenizer.ts';
import { indexOfWords, type WordIndex } from './tokenizer/word-index.ts';

/** Chat templates render one flat string, in which a user's "<|im_end|>" would look like the template's own. Therefore
 *  everything in the input that reads like a marker, or could complete one with the text around it, is replaced by a
 *  placeholder before rendering and put back as text, or as the ids it stands for, afterwards. */
export type Protected<T> = { readonly value: T; restore(rendered: string): Segment[] };

/** Ids inside a value given to `protect`: a generated turn is inserted verbatim. */
export class Ids {
  readonly ids: readonly number[];
  constructor(ids: readonly number[]) {
    this.ids = ids;
  }
}

type Plain = string | number | boolean | null | undefined | readonly Plain[] | { readonly [key: string]: Plain };

/** `template` is only needed to find a word that occurs nowhere. Keys are protected like values;
 *  a `role` is trusted. */
export function protect(value: unknown, template: string, tokenizer: Tokenizer): Protected<Plain> {
  const specials: Segment[] = [];
  const word = freshWord(JSON.stringify(value) + template);
  const keep = (segment: Segment): string => {
    specials.push(segment);
    return `${word}${specials.length - 1}x`;
  };
  const texts = guardOf(tokenizer, (text) => keep({ text }));
  const map = (item: unknown): Plain => {
    if (typeof item === 'string') return texts(item.toWellFormed());
    if (item instanceof Ids) return keep({ ids: item.ids });
    if (Array.isArray(item)) return item.map(map);
    if (typeof item === 'object' && item !== null) {
      return Object.fromEntries(
        Object.entries(item).map(([key, inner]) => [texts(key), key === 'role' ? (inner as Plain) : map(inner)]),
      );
    }
    return item as Plain;
  };
  // Case is ignored since templates may apply `upper` or `title` to what they are given.
  const placeholder = new RegExp(`${word}(\\d+)x`, 'i');
  return {
    value: map(value),
    restore: (rendered) =>
      rendered
        .split(placeholder)
        .flatMap((piece, i) => (i % 2 === 0 ? tokenizer.split(piece) : (specials[Number(piece)] ?? [])))
        .filter((segment) => !('text' in segment) || segment.text !== ''),
  };
}

/** A word that does not occur in `text`, of letters only, so that no filter of a template escapes or splits it. */
function freshWord(text: string): string {
  const lower = text.toLowerCase();
  for (let i = 0; ; ++i) {
    const word = `zq${i.toString(36)}vkw`;
    if (!lower.includes(word)) return word;
  }
}

/** Prefixes of the markers of a tokenizer, and reversed suffixes. */
type Edges = { readonly heads: WordIndex; readonly tails: WordIndex };
const edges = new WeakMap<Tokenizer, Edges>();

function edgesOf(tokenizer: Tokenizer): Edges {
  const known = edges.get(tokenizer);
  if (known) return known;
  const words = tokenizer.markers.map((marker) => marker.text);
  const made = { heads: indexOfWords(words), tails: indexOfWords(words.map(backwards)) };
  edges.set(tokenizer, made);
  return made;
}

const backwards = (text: string): string => text.split('').reverse().join('');

/** Replaces marker text, and text at the edges that the template's text could complete to a marker. */
function guardOf(tokenizer: Tokenizer, keep: (text: string) => string): (text: string) => string {
  const { heads, tails } = edgesOf(tokenizer);

  /** Length of the longest suffix (or prefix) of `text` that is a prefix (or suffix) of a marker. */
  const edge = (text: string, at: 'end' | 'start'): number => {
    const most = Math.max(0, Math.min(heads.longest - 1, text.length));
    const near = at === 'end' ? text.slice(text.length - most) : backwards(text.slice(0, most));
    for (let length = near.length; length > 0; --length) {
      if ((at === 'end' ? heads : tails).begins(near.slice(near.length - length))) return length;
    }
    return 0;
  };
  // Templates trim, so ignore white space at the edges.
  const guardStart = (text: string): string => {
    const body = text.trimStart();
    const length = edge(body, 'start');
    return length === 0
      ? text
      : text.slice(0, text.length - body.length) + keep(body.slice(0, length)) + body.slice(length);
  };
  const guardEnd = (text: string): string => {
    const body = text.trimEnd();
    const length = edge(body, 'end');
    return length === 0
      ? text
      : body.slice(0, body.length - length) + keep(body.slice(-length)) + text.slice(body.length);
  };
  return (text) => {
    const pieces = tokenizer.cut(text).map((piece, i) => (i % 2 === 0 ? piece : keep(piece)));
    pieces[0] = guardStart(pieces[0] ?? '');
    pieces.push(guardEnd(pieces.pop() ?? ''));
    return pieces.join('');
  };
}
