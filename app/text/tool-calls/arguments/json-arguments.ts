import type { Tool } from '../../chat-template.ts';
import { type ArgumentEvent, type ArgumentStream, isOffered, MAX_HEAD } from './argument-event.ts';

/** Up to the object of arguments, in the order that every family writes; another order is read when it is whole. */
const HEAD = /^\s*(\[?)\s*\{\s*"name"\s*:\s*"([^"\\]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;
const NEXT = /^()\s*\}\s*,\s*\{\s*"name"\s*:\s*"([^"\\]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;

/** {"name": …, "arguments": {…}}, or a list of them: the arguments are passed on as they are written. */
export function createJsonArguments(tools: readonly Tool[]): ArgumentStream {
  let state: 'head' | 'object' | 'over' = 'head';
  let rest = '';
  let head = HEAD;
  let listed = false;
  let depth = 0;
  let quoted = false;
  let escaped = false;

  /** One move; null: more is needed, or nothing comes any more. */
  function step(): ArgumentEvent[] | null {
    if (state === 'over' || rest === '') return null;
    return state === 'head' ? begin() : inObject();
  }

  function begin(): ArgumentEvent[] | null {
    const [whole, opened, name] = head.exec(rest) ?? [];
    if (whole === undefined || name === undefined) {
      if (rest.length > MAX_HEAD) state = 'over';
      return null;
    }
    listed ||= opened === '[';
    state = isOffered(name, tools) ? 'object' : 'over';
    rest = rest.slice(whole.length);
    return state === 'object' ? [{ kind: 'begin', name }] : null;
  }

  function inObject(): ArgumentEvent[] {
    const end = endOfObject();
    const text = rest.slice(0, end ?? rest.length);
    rest = rest.slice(text.length);
    if (end === null) return [{ kind: 'arguments', text }];
    state = listed ? 'head' : 'over';
    head = NEXT;
    return [
      { kind: 'arguments', text },
      { kind: 'end', cut: false },
    ];
  }

  function endOfObject(): number | null {
    for (let at = 0; at < rest.length; at++) {
      const sign = rest[at];
      if (escaped) escaped = false;
      else if (quoted && sign === '\\') escaped = true;
      else if (sign === '"') quoted = !quoted;
      else if (!quoted && (sign === '{' || sign === '[')) depth++;
      else if (!quoted && (sign === '}' || sign === ']') && --depth === 0) return at + 1;
    }
    return null;
  }

  return {
    push(text) {
      rest += text;
      const events: ArgumentEvent[] = [];
      for (let more = step(); more !== null; more = step()) events.push(...more);
      return events;
    },
  };
}
