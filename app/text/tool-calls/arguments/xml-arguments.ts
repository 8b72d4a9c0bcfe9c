import type { Tool } from '../../chat-template.ts';
import { prefixAtEnd } from '../../stop-strings.ts';
import { isText, parametersOf, typedValue } from '../call-bodies.ts';
import { type ArgumentEvent, type ArgumentStream, isOffered, MAX_HEAD } from './argument-event.ts';

const FUNCTION = /^\s*<function=([^>\n]+)>/;
const PARAMETER = '<parameter=';
const END_PARAMETER = '</parameter>';
const END_FUNCTION = '</function>';
const END_CALL = '</tool_call>';

type State = 'function' | 'between' | 'key' | 'value' | 'over';

/** <function=name><parameter=key>value</parameter></function>: texts are passed on as they are written, other values once
 *  they are whole. A call begins with its first parameter. */
export function createXmlArguments(tools: readonly Tool[]): ArgumentStream {
  let state: State = 'function';
  let rest = '';
  let last = false;
  let name = '';
  let key = '';
  let first = true;
  /** What has come of the value, where it is no text. */
  let value = '';

  const take = (length: number): string => {
    const taken = rest.slice(0, length);
    rest = rest.slice(length);
    return taken;
  };
  const said = (text: string): ArgumentEvent[] => (text === '' ? [] : [{ kind: 'arguments', text }]);
  const begun = (): ArgumentEvent[] => (first ? [{ kind: 'begin', name }, ...said('{')] : []);
  const schema = () => parametersOf(tools, name)[key];

  const steps: Record<State, () => ArgumentEvent[] | null> = {
    function() {
      const found = FUNCTION.exec(rest);
      if (!found) {
        if (rest.length > MAX_HEAD) state = 'over';
        return null;
      }
      name = (found[1] ?? '').trim();
      if (!isOffered(name, tools)) {
        state = 'over';
        return null;
      }
      take(found[0].length);
      first = true;
      state = 'between';
      return [];
    },
    between() {
      const [parameter, end] = [rest.indexOf(PARAMETER), rest.indexOf(END_FUNCTION)];
      if (end >= 0 && (parameter < 0 || end < parameter)) {
        take(end + END_FUNCTION.length);
        state = 'function';
        return [...begun(), ...said('}'), { kind: 'end', cut: false }];
      }
      if (parameter < 0) return null;
      take(parameter);
      state = 'key';
      return [];
    },
    key() {
      // The line break behind it belongs to the marker.
      const found = /^<parameter=([^>\n]+)>(\n?)/.exec(rest);
      if (!found || (found[0].length === rest.length && found[2] === '' && !last)) return null;
      take(found[0].length);
      key = (found[1] ?? '').trim();
      value = '';
      state = 'value';
      const before = first ? begun() : said(',');
      first = false;
      return [...before, ...said(`${JSON.stringify(key)}:${isText(schema()) ? '"' : ''}`)];
    },
    value() {
      const end = rest.indexOf(END_PARAMETER);
      if (end < 0) {
        const held = prefixAtEnd(rest, [`\n${END_PARAMETER}`, END_PARAMETER], END_PARAMETER.length + 1);
        return rest.length === held ? null : written(take(rest.length - held));
      }
      const ends = isEnd(rest.slice(end + END_PARAMETER.length));
      if (ends === null) return null;
      if (!ends) return written(take(end + END_PARAMETER.length));
      const events = [...written(take(rest[end - 1] === '\n' ? end - 1 : end)), ...closed()];
      take(rest.indexOf(END_PARAMETER) + END_PARAMETER.length);
      state = 'between';
      return events;
    },
    over: () => null,
  };

  function written(text: string): ArgumentEvent[] {
    if (isText(schema())) return said(JSON.stringify(text).slice(1, -1));
    value += text;
    return [];
  }

  const closed = (): ArgumentEvent[] =>
    said(isText(schema()) ? '"' : (JSON.stringify(typedValue(value, schema())) ?? 'null'));

  /** Whether what follows </parameter> makes it the end of the value; null: not known yet. */
  function isEnd(after: string): boolean | null {
    const next = after.trimStart();
    if (next.startsWith(PARAMETER)) return true;
    if (!next.startsWith(END_FUNCTION)) {
      const open = PARAMETER.startsWith(next) || END_FUNCTION.startsWith(next);
      return open && !last ? null : false;
    }
    const behind = next.slice(END_FUNCTION.length).trimStart();
    if (behind.startsWith('<function=') || behind.startsWith(END_CALL)) return true;
    if (last) return behind === '';
    return '<function='.startsWith(behind) || END_CALL.startsWith(behind) ? null : false;
  }

  return {
    push(text, isLast) {
      rest += text;
      last = isLast;
      const events: ArgumentEvent[] = [];
      for (let more = steps[state](); more !== null; more = steps[state]()) events.push(...more);
      return events;
    },
  };
}
