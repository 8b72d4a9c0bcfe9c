import type { Tool } from '../chat-template.ts';
import { prefixAtEnd } from '../stop-strings.ts';
import { type BodyScanner, createBodyScanner } from './body-scanner.ts';
import { callsIn } from './call-bodies.ts';
import type { CallFormat, ParsedCall } from './call-formats.ts';
import { createCodeTracker } from './code-tracker.ts';

export type CallPart = { kind: 'text'; text: string } | { kind: 'call'; call: ParsedCall };

/** Tells calls from text in an answer that comes in pieces. What could still become a call is held back; what does not become
 *  one is text, as it was written. It reads answers only: nothing in the thinking is a call.
 *
 *    text ──open, outside of code──▶ body ──whole──▶ call, then text
 *                                     └──can be none──▶ text
 */
export type CallSplitter = {
  push(text: string): CallPart[];
  flush(): CallPart[];
  /** What is held back: the beginning of a call, or of what could become one. */
  readonly held: string;
};

export function createCallSplitter(format: CallFormat, tools: readonly Tool[]): CallSplitter {
  const code = createCodeTracker();
  let held = '';
  /** `fresh`: the end of `held` that its scanner has not had. */
  let body: { scanner: BodyScanner | null; fresh: string; opened: string } | null = null;
  /** Nothing but white space has been written. */
  let blank = true;
  /** The white space behind a call belongs to no text. */
  let afterCall = false;

  const say = (length: number): CallPart[] => {
    const all = held.slice(0, length);
    const text = afterCall ? all.trimStart() : all;
    held = held.slice(length);
    afterCall &&= text === '';
    if (text === '') return [];
    code.push(text);
    blank &&= text.trim() === '';
    return [{ kind: 'text', text }];
  };

  const begin = (opened: string) => {
    held = held.slice(opened.length);
    const scanner = format.body === 'xml' ? null : createBodyScanner(format.body);
    body = { scanner, fresh: held, opened };
  };

  /** The body was none: its first characters are text, and the rest is looked at again. */
  const giveUp = ({ opened }: { opened: string }): CallPart[] => {
    body = null;
    held = opened + held;
    blank = false;
    afterCall = false;
    return say(Math.max(opened.length, 1));
  };

  const called = (calls: readonly ParsedCall[], length: number): CallPart[] => {
    body = null;
    afterCall = true;
    held = held.slice(length);
    const { close } = format;
    if (close !== null && held.trimStart().startsWith(close)) held = held.trimStart().slice(close.length);
    return calls.map((call) => ({ kind: 'call', call }));
  };

  /** One move; null: nothing more can be said yet. */
  function step(last: boolean): CallPart[] | null {
    if (held === '') return null;
    if (body !== null) return inBody(body, last);
    if (format.open === null) return bare(last);
    const at = held.indexOf(format.open);
    if (at < 0) {
      const keep = last ? 0 : waiting(held, format.open);
      return held.length === keep ? null : say(held.length - keep);
    }
    // What stands before it decides whether this is code.
    const before = say(at);
    if (code.inCode) return [...before, ...say(format.open.length)];
    begin(format.open);
    return trimmed(before);
  }

  /** The whole answer is one call, or none of it is. */
  function bare(last: boolean): CallPart[] | null {
    if (!blank) return say(held.length);
    const start = held.length - held.trimStart().length;
    if (start === held.length) return last ? say(held.length) : null;
    if (held[start] !== '{' && held[start] !== '[') return say(held.length);
    begin('');
    return [];
  }

  function inBody(open: NonNullable<typeof body>, last: boolean): CallPart[] | null {
    if (open.scanner === null) return inXml(open, last);
    const end = open.scanner.push(open.fresh, last);
    open.fresh = '';
    if (end === null) return last ? giveUp(open) : null;
    if (end < 0) return giveUp(open);
    // The marker that closes it may be on its way.
    const after = held.slice(end).trimStart();
    const { close } = format;
    if (!last && close !== null && after.length < close.length && close.startsWith(after)) return null;
    const calls = callsIn(held.slice(0, end), format.body, tools);
    if (!calls || (format.open === null && !calls.every(({ name }) => isKnown(name)))) return giveUp(open);
    return called(calls, end);
  }

  function inXml(open: NonNullable<typeof body>, last: boolean): CallPart[] | null {
    const start = held.trimStart();
    const could = XML_STARTS.some((begins) => start.startsWith(begins) || (!last && begins.startsWith(start)));
    if (!could) return giveUp(open);
    for (let at = held.indexOf(CLOSE_FUNCTION); at >= 0; at = held.indexOf(CLOSE_FUNCTION, at + 1)) {
      const end = at + CLOSE_FUNCTION.length;
      const after = held.slice(end).trimStart();
      const close = format.close ?? '';
      if (!last && after.length < close.length && close.startsWith(after)) return null;
      if (!after.startsWith(close) && !(last && after === '')) continue;
      const calls = callsIn(held.slice(0, end), 'xml', tools);
      if (calls) return called(calls, end);
    }
    const json = start.startsWith('{') ? held.indexOf(format.close ?? '') : -1;
    const calls = json < 0 ? null : callsIn(held.slice(0, json), 'json', tools);
    if (calls) return called(calls, json);
    return last ? giveUp(open) : null;
  }

  const isKnown = (name: string): boolean => tools.some((tool) => tool.function.name === name);

  const drain = (last: boolean): CallPart[] => {
    const parts: CallPart[] = [];
    for (let said = step(last); said !== null; said = step(last)) parts.push(...said);
    return parts;
  };

  return {
    get held() {
      return body ? body.opened + held : held;
    },
    push(text) {
      held += text;
      if (body) body.fresh += text;
      // Every marker that could end a call ends with this sign: a long one is not looked through for each of its words.
      const inside = body?.scanner === null && held.length > MIN_LOOKED && !text.includes('>');
      return inside ? [] : drain(false);
    },
    flush() {
      const parts = drain(true);
      return body ? [...parts, ...giveUp(body), ...say(held.length)] : parts;
    },
  };
}

/** By then it is known whether a body begins as a call does. */
const MIN_LOOKED = 64;

const CLOSE_FUNCTION = '</function>';
const XML_STARTS = ['<function=', '{'];

/** The beginning of a marker, and the white space before it, which belongs to neither. */
function waiting(text: string, open: string): number {
  const marker = prefixAtEnd(text, [open], open.length);
  const said = text.slice(0, text.length - marker);
  return marker + Math.min(said.length - said.trimEnd().length, MAX_HELD);
}

/** More white space than this is given out. */
const MAX_HELD = 256;

const trimmed = (parts: CallPart[]): CallPart[] =>
  parts.flatMap((part) => {
    const text = part.kind === 'text' ? part.text.trimEnd() : '';
    return text === '' ? [] : [{ kind: 'text' as const, text }];
  });
