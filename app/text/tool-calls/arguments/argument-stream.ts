import type { Tool } from '../../chat-template.ts';
import type { CallFormat } from '../call-formats.ts';
import type { ArgumentStream } from './argument-event.ts';
import { createJsonArguments } from './json-arguments.ts';
import { createPythonArguments } from './python-arguments.ts';
import { createXmlArguments } from './xml-arguments.ts';

export function createArgumentStream(body: CallFormat['body'], tools: readonly Tool[]): ArgumentStream {
  if (body === 'json') return createJsonArguments(tools);
  if (body === 'python') return createPythonArguments(tools);
  return jsonOrXml(tools);
}

/** Models that are asked for tags write JSON at times. */
function jsonOrXml(tools: readonly Tool[]): ArgumentStream {
  let chosen: ArgumentStream | null = null;
  let waiting = '';
  return {
    push(text, last) {
      if (chosen) return chosen.push(text, last);
      waiting += text;
      const first = waiting.trimStart()[0];
      if (first === undefined) return [];
      chosen = first === '{' ? createJsonArguments(tools) : createXmlArguments(tools);
      return chosen.push(waiting, last);
    },
  };
}
