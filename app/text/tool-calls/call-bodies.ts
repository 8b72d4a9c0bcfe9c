import { parseJson } from '../../protocol/index.ts';
import type { Tool } from '../chat-template.ts';
import type { ParsedCall } from './call-formats.ts';
import { pythonCalls } from './python-calls.ts';

/** The calls that a body names; null where it is none, and then it is text. */
export function callsIn(body: string, kind: 'json' | 'xml' | 'python', tools: readonly Tool[]): ParsedCall[] | null {
  if (kind === 'xml') return xmlCalls(body, tools) ?? jsonCalls(body);
  if (kind === 'json') return jsonCalls(body) ?? xmlCalls(body, tools);
  const bare = body.replace(/^\s*```(?:python)?\n([\s\S]*?)\n?```\s*$/, '$1');
  return pythonCalls(bare, (name) => Object.keys(parametersOf(tools, name))) ?? jsonCalls(body);
}

function jsonCalls(body: string): ParsedCall[] | null {
  let value: unknown;
  try {
    value = parseJson(body, 'call');
  } catch {
    return null;
  }
  const calls = (Array.isArray(value) ? value : [value]).map(jsonCall);
  return calls.length > 0 && calls.every((call) => call !== null) ? calls : null;
}

function jsonCall(value: unknown): ParsedCall | null {
  if (!isObject(value)) return null;
  const call = isObject(value.function) ? value.function : value;
  const given = call.arguments ?? call.parameters ?? {};
  if (typeof call.name !== 'string' || call.name === '') return null;
  if (typeof given !== 'string') return isObject(given) ? { name: call.name, arguments: given } : null;
  try {
    const inner = parseJson(given, 'call');
    return isObject(inner) ? { name: call.name, arguments: inner } : null;
  } catch {
    return null;
  }
}

function xmlCalls(body: string, tools: readonly Tool[]): ParsedCall[] | null {
  const calls: ParsedCall[] = [];
  const rest = body.replace(
    /\s*<function=([^>\n]+)>([\s\S]*?)<\/function>\s*(?=<function=|$)/g,
    (_, name: string, inner: string) => {
      calls.push({ name: name.trim(), arguments: xmlArguments(inner, parametersOf(tools, name.trim())) });
      return '';
    },
  );
  return calls.length > 0 && rest === '' ? calls : null;
}

function xmlArguments(inner: string, parameters: Parameters): object {
  const given: [string, unknown][] = [];
  for (const [, name = '', value = ''] of inner.matchAll(
    /<parameter=([^>\n]+)>([\s\S]*?)<\/parameter>(?=\s*(?:<parameter=|$))/g,
  )) {
    given.push([name.trim(), typedValue(value.replace(/^\n/, '').replace(/\n$/, ''), parameters[name.trim()])]);
  }
  return Object.fromEntries(given);
}

/** A value that is written as plain text, as what its schema says. */
export function typedValue(text: string, schema: Schema | undefined): unknown {
  if (isText(schema)) return text;
  const types = [schema?.type ?? 'string'].flat();
  if (types.includes('string') && !/^(null|None)$/.test(text.trim())) return text;
  const plain = { True: true, False: false, None: null }[text.trim()];
  if (plain !== undefined) return plain;
  try {
    return parseJson(text, 'call');
  } catch {
    return text;
  }
}

/** Whether every value is a text, whatever is written. */
export function isText(schema: Schema | undefined): boolean {
  const types = [schema?.type ?? 'string'].flat();
  return types.includes('string') && !types.includes('null');
}

type Schema = { type?: string | string[] };
type Parameters = Record<string, Schema>;

export function parametersOf(tools: readonly Tool[], name: string): Parameters {
  const schema = tools.find((tool) => tool.function.name === name)?.function.parameters;
  return isObject(schema) && isObject(schema.properties) ? (schema.properties as Parameters) : {};
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
