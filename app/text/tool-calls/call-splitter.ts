import type { Tool } from '../chat-template.ts';
import { prefixAtEnd } from '../stop-strings.ts';
import type { ArgumentEvent, ArgumentStream } from './arguments/argument-event.ts';
import { createArgumentStream } from './arguments/argument-stream.ts';
import { type BodyScanner, createBodyScanner } from './body-scanner.ts';
import { callsIn } from './call-bodies.ts';
import type { CallFormat, ParsedCall } from './call-formats.ts';
import { createCodeTracker } from './code-tracker.ts';

/** A call comes whole, or in pieces where they are wanted and it surely is one. */
export type CallPart = { kind: 'text'; text: string } | { kind: 'call'; call: ParsedCall } | ArgumentEvent;

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

/** `fresh`: the end of the held text that the scanner and the stream have not had. `begun`: calls said in pieces, of which the last
 *  may be `unfinished`. */
type Body = {
  scanner: BodyScanner | null;
  stream: ArgumentStream | null;
  fresh: string;
  opened: string;
  begun: number;
  unfinished: boolean;
};

/** `inPieces`: calls are said while they are written. What is broken off then, or proves to be malformed, stays a call: it cannot
 *  be taken back. */
export function createCallSplitter(
  format: CallFormat,
  tools: readonly Tool[],
  { inPieces = false }: { inPieces?: boolean } = {},
): CallSplitter {
  const code = createCodeTracker();
  let held = '';
  let body: Body | null = null;
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
    const stream = inPieces ? createArgumentStream(format.body, tools) : null;
    body = { scanner, stream, fresh: held, opened, begun: 0, unfinished: false };
  };

  /** What can be said of the calls in the body. */
  function streamed(open: Body, last: boolean): CallPart[] {
    const events = open.stream?.push(open.fresh, last) ?? [];
    for (const { kind } of events) {
      if (kind === 'begin') open.begun++;
      if (kind !== 'arguments') open.unfinished = kind === 'begin';
    }
    return events;
  }

  /** The body was none: its first characters are text, and the rest is looked at again. */
  const giveUp = (open: Body): CallPart[] => {
    if (open.begun > 0) return called(open, [], held.length);
    const { opened } = open;
    body = null;
    held = opened + held;
    blank = false;
    afterCall = false;
    return say(Math.max(opened.length, 1));
  };

  /** The calls that were not said in pieces are said whole. */
  const called = (open: Body, calls: readonly ParsedCall[], length: number): CallPart[] => {
    body = null;
    afterCall = true;
    held = held.slice(length);
    const { close } = format;
    if (close !== null && held.trimStart().startsWith(close)) held = held.trimStart().slice(close.length);
    const whole = calls.slice(open.begun).map((call) => ({ kind: 'call' as const, call }));
    return open.unfinished ? [{ kind: 'end', cut: true }, ...whole] : whole;
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

  function inBody(open: Body, last: boolean): CallPart[] | null {
    const said = streamed(open, last);
    const parts = open.scanner === null ? inXml(open, last) : inValue(open, open.scanner, last);
    open.fresh = '';
    return said.length > 0 ? [...said, ...(parts ?? [])] : parts;
  }

  function inValue(open: Body, scanner: BodyScanner, last: boolean): CallPart[] | null {
    const end = scanner.push(open.fresh, last);
    if (end === null) return last ? giveUp(open) : null;
    if (end < 0) return giveUp(open);
    // The marker that closes it may be on its way.
    const after = held.slice(end).trimStart();
    const { close } = format;
    if (!last && close !== null && after.length < close.length && close.startsWith(after)) return null;
    const calls = callsIn(held.slice(0, end), format.body, tools);
    if (!calls || (format.open === null && !calls.every(({ name }) => isKnown(name)))) {
      return open.begun > 0 ? called(open, [], end) : giveUp(open);
    }
    return called(open, calls, end);
  }

  function inXml(open: Body, last: boolean): CallPart[] | null {
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
      if (calls) return called(open, calls, end);
    }
    const json = start.startsWith('{') ? held.indexOf(format.close ?? '') : -1;
    const calls = json < 0 ? null : callsIn(held.slice(0, json), 'json', tools);
    if (calls) return called(open, calls, json);
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
      if (!inside) return drain(false);
      const parts = streamed(body as Body, false);
      (body as Body).fresh = '';
      return parts;
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
