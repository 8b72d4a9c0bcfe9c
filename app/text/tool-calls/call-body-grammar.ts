import type { Tool } from '../chat-template.ts';
import type { CallFormat } from './call-formats.ts';
import { textWithout } from './text-without.ts';

/** What the engine's grammars of kind `parts` are made of. */
export type Part =
  | string
  | Part[]
  | { control: number }
  | { regex: string }
  | { schema: unknown }
  | { choice: Part[] }
  | { optional: Part }
  | { repeat: Part; most?: number };

/** `bound`: the arguments are of the tool's schema; else they are any object. */
type How = { open: string | null; bound: boolean };

/** One call of a tool, without the markers around it. */
export const callBody = (body: CallFormat['body'], tool: Tool, how: How): Part => BODIES[body](tool, how);

const BODIES: Record<CallFormat['body'], (tool: Tool, how: How) => Part> = { json, xml, python };

type Schema = { type?: unknown; properties?: Record<string, Schema>; required?: string[]; [key: string]: unknown };

const schemaOf = ({ function: { parameters } }: Tool): Schema => ({
  ...(typeof parameters === 'object' && parameters !== null ? (parameters as Schema) : {}),
  type: 'object',
});

function json(tool: Tool, { open, bound }: How): Part {
  const key = open === null ? 'parameters' : 'arguments';
  const schema = bound ? schemaOf(tool) : { type: 'object' };
  return [`{"name": ${JSON.stringify(tool.function.name)}, "${key}": `, { schema }, '}'];
}

/** A schema of a parameter may point to what stands beside the parameters. */
const inside = (schema: Schema, part: Schema): Schema => ({
  ...('$defs' in schema && { $defs: schema.$defs }),
  ...part,
});

const ANY_TEXT = textWithout('</parameter>');

function xml(tool: Tool, { bound }: How): Part {
  const { name: called } = tool.function;
  const parameter = (name: Part, value: Part): Part => ['<parameter=', name, '>\n', value, '\n</parameter>\n'];
  const whole = (parameters: Part): Part => [`<function=${called}>\n`, parameters, '</function>'];
  if (!bound) return whole({ repeat: parameter({ regex: '[^>\\n]{1,100}' }, { regex: ANY_TEXT }) });
  const schema = schemaOf(tool);
  return whole(
    Object.entries(schema.properties ?? {}).map(([name, part]): Part => {
      const plain = part.type === 'string' && !('enum' in part || 'const' in part);
      const value: Part = plain ? { regex: plainText(part) } : unquoted(inside(schema, part));
      return schema.required?.includes(name) ? parameter(name, value) : { optional: parameter(name, value) };
    }),
  );
}

/** A text without quotes, which may not look like the end of its parameter. */
function plainText({ minLength, maxLength, pattern }: Schema): string {
  if (typeof pattern === 'string') return /^\^.*\$$/.test(pattern) ? pattern : `[^<]*(?:${pattern})[^<]*`;
  return minLength === undefined && maxLength === undefined ? ANY_TEXT : `[^<]{${minLength ?? 0},${maxLength ?? ''}}`;
}

/** Texts among the values of a list stand without quotes. */
function unquoted(part: Schema): Part {
  const values = 'const' in part ? [part.const] : part.enum;
  if (!Array.isArray(values) || !values.some((value) => typeof value === 'string')) return { schema: part };
  return { choice: values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))) };
}

const ANY_ARGUMENT: Part = [{ regex: '[A-Za-z_][A-Za-z0-9_]*' }, '=', { schema: true }];

function python(tool: Tool, { bound }: How): Part {
  const { name: called } = tool.function;
  if (!bound) return [`${called}(`, { optional: [ANY_ARGUMENT, { repeat: [', ', ANY_ARGUMENT] }] }, ')'];
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
    if (required) return [`${called}(`, { choice: beginnings }, ')'];
  }
  return [`${called}(`, { optional: { choice: beginnings } }, ')'];
}
