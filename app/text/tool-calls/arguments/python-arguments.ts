import type { Tool } from '../../chat-template.ts';
import { parametersOf } from '../call-bodies.ts';
import { pythonCalls } from '../python-calls.ts';
import { type ArgumentEvent, type ArgumentStream, isOffered, MAX_HEAD } from './argument-event.ts';

const HEAD = /^\s*(\[?)\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\(/u;
const NEXT = /^()\s*,\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\(/u;

/** [name(key="value", other=[1, 2])]: each argument is passed on once it is whole, and a call begins with its first. */
export function createPythonArguments(tools: readonly Tool[]): ArgumentStream {
  let state: 'head' | 'arguments' | 'over' = 'head';
  let rest = '';
  let head = HEAD;
  let listed = false;
  let name = '';
  let position = 0;
  /** How much of `rest` has been looked at, and what it is in. */
  let at = 0;
  let depth = 0;
  let quote = '';

  function step(last: boolean): ArgumentEvent[] | null {
    if (state === 'over' || rest === '') return null;
    return state === 'head' ? begin() : argument(last);
  }

  function begin(): ArgumentEvent[] | null {
    const [whole, opened, called] = head.exec(rest) ?? [];
    if (whole === undefined || called === undefined) {
      if (rest.length > MAX_HEAD) state = 'over';
      return null;
    }
    listed ||= opened === '[';
    name = called;
    position = 0;
    state = isOffered(name, tools) ? 'arguments' : 'over';
    rest = rest.slice(whole.length);
    at = 0;
    return state === 'over' ? null : [];
  }

  /** Up to the comma or bracket behind an argument. */
  function argument(last: boolean): ArgumentEvent[] | null {
    const end = endOfArgument(last);
    if (end === null) return null;
    const [text, sign] = [rest.slice(0, end), rest[end]];
    rest = rest.slice(end + 1);
    at = 0;
    const json = text.trim() === '' && sign === ')' ? '' : jsonOf(text);
    if (json === null) {
      state = 'over';
      return null;
    }
    const begun: ArgumentEvent[] = position === 0 ? [{ kind: 'begin', name }] : [];
    const before = position === 0 ? '{' : json === '' ? '' : ',';
    position++;
    if (sign === ',') return [...begun, { kind: 'arguments', text: `${before}${json}` }];
    state = listed ? 'head' : 'over';
    head = NEXT;
    return [...begun, { kind: 'arguments', text: `${before}${json}}` }, { kind: 'end', cut: false }];
  }

  /** "key": value, as the whole call would be read; null: no argument. */
  function jsonOf(text: string): string | null {
    const names = Object.keys(parametersOf(tools, name)).slice(position);
    const [call] = pythonCalls(`${name}(${text})`, () => names) ?? [];
    const json = call && JSON.stringify(call.arguments);
    return json === undefined ? null : json.slice(1, -1);
  }

  function endOfArgument(last: boolean): number | null {
    // Three quotes are told from one by what follows.
    while (at < rest.length - (last ? 0 : 2)) {
      const sign = rest[at] ?? '';
      if (quote === '' && depth === 0 && (sign === ',' || sign === ')')) return at;
      at += quote === '' ? outside(sign) : inside(sign);
    }
    return null;
  }

  function outside(sign: string): number {
    if (sign === '"' || sign === "'") {
      quote = rest.startsWith(sign.repeat(3), at) ? sign.repeat(3) : sign;
      return quote.length;
    }
    if ('[{('.includes(sign)) depth++;
    if (']})'.includes(sign)) depth--;
    return 1;
  }

  function inside(sign: string): number {
    if (sign === '\\') return 2;
    if (!rest.startsWith(quote, at)) return 1;
    const { length } = quote;
    quote = '';
    return length;
  }

  return {
    push(text, last) {
      rest += text;
      const events: ArgumentEvent[] = [];
      for (let more = step(last); more !== null; more = step(last)) events.push(...more);
      return events;
    },
  };
}
