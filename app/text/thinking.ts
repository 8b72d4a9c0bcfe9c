import { prefixAtEnd } from './stop-strings.ts';
import type { Tokenizer } from './tokenizer/tokenizer.ts';

/** The markers of a family for thinking. */
export type ThinkingMarkers = { readonly open: string; readonly close: string };

/** Pairs used by published families. The first that occurs in the template or the vocabulary is the model's. */
const PAIRS: readonly ThinkingMarkers[] = [
  { open: '<think>', close: '</think>' },
  { open: '<thinking>', close: '</thinking>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<seed:think>', close: '</seed:think>' },
];

/** null: the model has no thinking. */
export function thinkingMarkersOf(tokenizer: Tokenizer, template: string | null): ThinkingMarkers | null {
  const known = (text: string) => tokenizer.markers.some((marker) => marker.text === text);
  const pair = PAIRS.find(({ close }) => known(close) || template?.includes(close));
  return pair ?? null;
}

/** Ids that close thinking in the family's own form (for "answer now" and the thinking budget), after the forced text `words`. */
export function closingIds(tokenizer: Tokenizer, markers: ThinkingMarkers, words = ''): number[] {
  const said = words === '' ? '\n' : `\n\n${words}\n`;
  return tokenizer.encode([{ text: said }, ...tokenizer.split(markers.close), { text: '\n\n' }]);
}

export const openingIds = (tokenizer: Tokenizer, { open }: ThinkingMarkers): number[] => thinkingIds(tokenizer, open);

/** The tokens of a marker. */
export const thinkingIds = (tokenizer: Tokenizer, marker: string): number[] =>
  tokenizer.encode(tokenizer.split(marker));

/** Whether a rendered prompt ends inside an open thinking block. */
export function opensThinking(prompt: string, markers: ThinkingMarkers): boolean {
  const open = prompt.lastIndexOf(markers.open);
  if (open < 0 || prompt.lastIndexOf(markers.close) > open) return false;
  return prompt.slice(open + markers.open.length).trim() === '';
}

export type Part = { readonly kind: 'thinking' | 'answer'; readonly text: string };

/** Splits streamed text into thinking and answer. White space around the markers belongs to neither.
 *
 *    start ──text──▶ answer            thinking ──close──▶ after ──text──▶ answer
 *      └────open────▶ thinking            ▲── begun by the template
 */
export type ThinkingSplitter = {
  push(text: string): Part[];
  flush(): Part[];
  readonly inThinking: boolean;
};

type State = 'start' | 'thinking' | 'after' | 'answer';

export function createThinkingSplitter(markers: ThinkingMarkers | null, continuation: boolean): ThinkingSplitter {
  let state: State = markers === null ? 'answer' : continuation ? 'thinking' : 'start';
  let held = '';
  let first = continuation;

  /** One step of the state machine; null: more text is needed. */
  const step = (last: boolean): Part | null => {
    if (!markers || held === '') return null;
    if (state === 'start') return begin(markers, last);
    if (state === 'thinking') return think(markers, last);
    if (state === 'after') {
      held = held.trimStart();
      if (held !== '') state = 'answer';
      return held === '' ? null : give('answer', held.length);
    }
    return give('answer', held.length);
  };

  const give = (kind: Part['kind'], length: number): Part => {
    const text = held.slice(0, length);
    held = held.slice(length);
    return { kind, text };
  };

  const begin = ({ open }: ThinkingMarkers, last: boolean): Part | null => {
    const text = held.trimStart();
    if (text.startsWith(open)) {
      held = text.slice(open.length);
      state = 'thinking';
      first = true;
      return { kind: 'thinking', text: '' };
    }
    if (!last && open.startsWith(text) && held.length < MAX_HELD) return null;
    state = 'answer';
    return give('answer', held.length);
  };

  const think = ({ close }: ThinkingMarkers, last: boolean): Part | null => {
    if (first) held = held.trimStart();
    const at = held.indexOf(close);
    if (at >= 0) {
      const text = held.slice(0, at).trimEnd();
      held = held.slice(at + close.length);
      state = 'after';
      return { kind: 'thinking', text };
    }
    const keep = last ? 0 : uncertain(held, close);
    if (held.length === keep) return null;
    first = false;
    return give('thinking', held.length - keep);
  };

  const drain = (last: boolean): Part[] => {
    const parts: Part[] = [];
    for (let part = step(last); part !== null; part = step(last)) if (part.text !== '') parts.push(part);
    return parts;
  };

  return {
    push(text) {
      if (state === 'answer') return text === '' ? [] : [{ kind: 'answer', text }];
      held += text;
      return drain(false);
    },
    flush() {
      if (state === 'thinking') held = held.trimEnd();
      const parts = drain(true);
      held = '';
      return parts;
    },
    get inThinking() {
      return state === 'thinking';
    },
  };
}

/** Length of trailing white space before a possible closing marker, and of its beginning. */
function uncertain(text: string, close: string): number {
  const marker = prefixAtEnd(text, [close], close.length);
  const body = text.slice(0, text.length - marker);
  const space = body.length - body.trimEnd().length;
  return space > MAX_HELD ? marker : marker + space;
}

/** Maximum white space held back, in case a model only writes newlines. */
const MAX_HELD = 256;
