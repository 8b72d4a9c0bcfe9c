import type { Tool } from '../chat-template.ts';
import type { Tokenizer } from '../tokenizer/tokenizer.ts';
import type { CallFormat } from './call-formats.ts';

/** What the engine's grammars of kind `parts` are made of. */
export type Part =
  | string
  | Part[]
  | { control: number }
  | { regex: string }
  | { schema: unknown }
  | { choice: Part[] }
  | { optional: Part };

/** An answer that is one call of one of these tools. */
export function callGrammar({ open, close, body }: CallFormat, tools: readonly Tool[], tokenizer: Tokenizer): Part {
  const marker = (text: string | null): Part => {
    const known = text === null ? undefined : tokenizer.markers.find((one) => one.text === text);
    return known ? { control: known.id } : (text ?? '');
  };
  const calls = { choice: tools.map((tool) => BODIES[body](tool, open)) };
  const line = open?.startsWith('<tool_call') ? '\n' : '';
  return [marker(open), line, calls, line, marker(close)];
}

const BODIES: Record<CallFormat['body'], (tool: Tool, open: string | null) => Part> = { json, xml, python };

type Schema = { type?: unknown; properties?: Record<string, Schema>; required?: string[]; [key: string]: unknown };

const schemaOf = ({ function: { parameters } }: Tool): Schema => ({
  ...(typeof parameters === 'object' && parameters !== null ? (parameters as Schema) : {}),
  type: 'object',
});

function json(tool: Tool, open: string | null): Part {
  const key = open === null ? 'parameters' : 'arguments';
  const call = [`{"name": ${JSON.stringify(tool.function.name)}, "${key}": `, { schema: schemaOf(tool) }, '}'];
  return open === '[TOOL_CALLS]' ? ['[', call, ']'] : call;
}

/** A schema of a parameter may point to what stands beside the parameters. */
const inside = (schema: Schema, part: Schema): Schema => ({
  ...('$defs' in schema && { $defs: schema.$defs }),
  ...part,
});

function xml(tool: Tool): Part {
  const schema = schemaOf(tool);
  const parameters = Object.entries(schema.properties ?? {}).map(([name, part]): Part => {
    const plain = part.type === 'string' && !('enum' in part || 'const' in part);
    const value: Part = plain ? { regex: plainText(part) } : unquoted(inside(schema, part));
    const parameter = [`<parameter=${name}>\n`, value, '\n</parameter>\n'];
    return schema.required?.includes(name) ? parameter : { optional: parameter };
  });
  return [`<function=${tool.function.name}>\n`, parameters, '</function>'];
}

/** A text without quotes, which may not look like the end of its parameter. */
function plainText({ minLength, maxLength, pattern }: Schema): string {
  if (typeof pattern === 'string') return /^\^.*\$$/.test(pattern) ? pattern : `[^<]*(?:${pattern})[^<]*`;
  if (minLength === undefined && maxLength === undefined) return '(?:[^<]|<[^/<])*';
  return `[^<]{${minLength ?? 0},${maxLength ?? ''}}`;
}

/** Texts among the values of a list stand without quotes. */
function unquoted(part: Schema): Part {
  const values = 'const' in part ? [part.const] : part.enum;
  if (!Array.isArray(values) || !values.some((value) => typeof value === 'string')) return { schema: part };
  return { choice: values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))) };
}

function python(tool: Tool): Part {
  const schema = schemaOf(tool);
  const given = Object.entries(schema.properties ?? {}).map(([name, part]) => ({
    text: [`${name}=`, { schema: inside(schema, part) }] as Part,
    required: schema.required?.includes(name) ?? false,
  }));
  // Those that may be left out: any of them may be the first.
  const beginnings: Part[] = [];
  for (const [first, { text, required }] of given.entries()) {
    const rest = given.slice(first + 1).map((one): Part => {
      const next = [', ', one.text];
      return one.required ? next : { optional: next };
    });
    beginnings.push([text, rest]);
    if (required) return [`[${tool.function.name}(`, { choice: beginnings }, ')]'];
  }
  return [`[${tool.function.name}(`, { optional: { choice: beginnings } }, ')]'];
}
