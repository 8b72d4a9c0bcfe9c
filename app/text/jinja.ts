import { Environment, parse, tokenize } from '@huggingface/jinja';
import { equal, type JsonStyle, json, repr, str } from './jinja-python.ts';
import { withoutUnknownSyntax } from './jinja-source.ts';
import { stringMethods } from './jinja-strings.ts';
import {
  asTuple,
  BaseInterpreter,
  callable,
  integer,
  isList,
  isMapping,
  isNumber,
  isText,
  list,
  mapping,
  type Node,
  none,
  text,
  truth,
  tuple,
  type Value,
} from './jinja-values.ts';

/** What a template may spend: a chat of 10 000 messages takes 800 000 steps. Both are counted, so that the same template fails the same way on every machine. */
export type TemplateLimits = { readonly steps: number; readonly characters: number };
export const TEMPLATE_LIMITS: TemplateLimits = { steps: 1_000_000, characters: 64_000_000 };

/** A failure of the template's own making: bad syntax, `raise_exception`, a limit. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Renders a Jinja template as transformers does (trim_blocks, lstrip_blocks, Python's way of writing values).
 *  @throws TemplateError */
export function renderJinja(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  limits: TemplateLimits = TEMPLATE_LIMITS,
): string {
  try {
    const program = parse(tokenize(withoutUnknownSyntax(source), { lstrip_blocks: true, trim_blocks: true }));
    const environment = globals(variables, limits);
    const result = new PythonInterpreter(environment, limits).evaluate(
      writing(program as unknown as Node),
      environment,
    );
    return str(result);
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    const reason = error instanceof RangeError ? `too deep or too large (${error.message})` : messageOf(error);
    throw new TemplateError(reason, { cause: error });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function globals(variables: Readonly<Record<string, unknown>>, limits: TemplateLimits): Environment {
  const environment = new Environment();
  for (const [name, value] of Object.entries({ false: false, true: true, none: null, ...variables })) {
    environment.set(name, value);
  }
  const set = (name: string, value: Value) =>
    (environment as unknown as { setVariable(name: string, value: Value): void }).setVariable(name, value);
  for (const [lower, upper] of [
    ['true', 'True'],
    ['false', 'False'],
    ['none', 'None'],
  ] as const) {
    set(upper, lower === 'none' ? none : truth(lower === 'true'));
  }
  set(
    'raise_exception',
    callable(([message]) => raise(message ? str(message) : 'raise_exception')),
  );
  set(
    'dict',
    callable((args) => mapping(new Map(args.flatMap((arg) => (isMapping(arg) ? [...arg.value] : []))))),
  );
  set(
    'range',
    callable((args) => range(args, limits)),
  );
  set(
    'strftime_now',
    callable(([format]) => text(strftime(new Date(), isText(format) ? format.value : ''))),
  );
  return environment;
}

function raise(message: string): never {
  throw new TemplateError(message);
}

function range(args: Value[], limits: TemplateLimits): Value {
  const numbers = args.filter(isNumber).map((arg) => arg.value);
  const [start, stop, step] =
    numbers.length < 2 ? [0, numbers[0] ?? 0, 1] : [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 1];
  if (step === 0) raise('range() step must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > limits.steps) raise(`range() of ${length} values, allowed are ${limits.steps}`);
  return list(Array.from({ length }, (_, i) => integer(start + i * step)));
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** The codes that chat templates use, in English whatever the machine's language. */
function strftime(date: Date, format: string): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const month = MONTHS[date.getMonth()] ?? '';
  const day = DAYS[date.getDay()] ?? '';
  const codes: Record<string, string> = {
    Y: String(date.getFullYear()),
    y: two(date.getFullYear() % 100),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    H: two(date.getHours()),
    I: two(date.getHours() % 12 || 12),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    p: date.getHours() < 12 ? 'AM' : 'PM',
    B: month,
    b: month.slice(0, 3),
    A: day,
    a: day.slice(0, 3),
    '%': '%',
  };
  return format.replace(/%([A-Za-z%])/g, (whole, code: string) => codes[code] ?? whole);
}

const STATEMENTS = new Set([
  'Set',
  'If',
  'For',
  'Macro',
  'CallStatement',
  'FilterStatement',
  'Break',
  'Continue',
  'Comment',
]);
const BODIES = ['body', 'alternate', 'defaultBlock'];

/** Marks every expression that is written out: only there Python's str() applies. */
function writing(node: Node): Node {
  for (const field of BODIES) {
    const body = node[field];
    if (Array.isArray(body))
      node[field] = body.map((child: Node) => (STATEMENTS.has(child.type) ? writing(child) : output(child)));
  }
  // A round of a loop is a step, even of an empty one.
  if (node.type === 'For') node.body = [{ type: 'Round' }, ...(node.body as Node[])];
  return node;
}
const output = (expression: Node): Node => ({ type: 'Output', expression });

/** The library's interpreter where it differs from Python: written values, `~`, `==`, tojson, join, methods of str. */
class PythonInterpreter extends BaseInterpreter {
  private steps = 0;
  private characters = 0;
  private readonly limits: TemplateLimits;

  constructor(environment: Environment, limits: TemplateLimits) {
    super(environment);
    this.limits = limits;
  }

  override evaluate(node: Node | undefined, environment: Environment): Value {
    this.spend(1);
    switch (node?.type) {
      case 'Output':
        return this.written(this.evaluate(node.expression as Node, environment));
      case 'BinaryExpression':
        return this.binary(node, environment) ?? super.evaluate(node, environment);
      case 'FilterExpression':
        return this.filter(node, environment) ?? super.evaluate(node, environment);
      case 'CallExpression':
        return this.method(node, environment) ?? pairs(node, super.evaluate(node, environment));
      case 'TupleLiteral':
        return tuple((node.value as Node[]).map((item) => this.evaluate(item, environment)));
      case 'Round':
        return none;
      case 'Known':
        return node.value as Value;
      default:
        return super.evaluate(node, environment);
    }
  }

  private spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.limits.steps) raise(`stopped after ${this.limits.steps} steps`);
  }

  private written(value: Value): Value {
    const result = str(value);
    this.count(result.length);
    return text(result);
  }

  private count(characters: number): void {
    this.characters += characters;
    if (this.characters > this.limits.characters) raise(`stopped after ${this.limits.characters} characters`);
  }

  private binary(node: Node, environment: Environment): Value | null {
    const operator = (node.operator as { value: string }).value;
    if (!['+', '~', '==', '!='].includes(operator)) return null;
    const left = this.evaluate(node.left as Node, environment);
    const right = this.evaluate(node.right as Node, environment);
    if (operator === '+') return this.sum(node, left, right, environment);
    if (operator === '~') return this.joined(str(left), str(right));
    return truth(equal(left, right) === (operator === '=='));
  }

  /** What grows is paid for by its smaller part: adding to a long text is cheap, doubling it is not. */
  private sum(node: Node, left: Value, right: Value, environment: Environment): Value {
    if (isText(left) && isText(right)) return this.joined(left.value, right.value);
    if (!isList(left) || !isList(right)) {
      return super.evaluate({ ...node, left: known(left), right: known(right) }, environment);
    }
    this.spend(Math.min(left.value.length, right.value.length));
    return list(left.value.concat(right.value));
  }

  private joined(left: string, right: string): Value {
    this.count(Math.min(left.length, right.length));
    return text(left + right);
  }

  /** Only filters whose result the library writes in JavaScript's way; a value is evaluated once and handed on. */
  private filter(node: Node, environment: Environment): Value | null {
    const filter = node.filter as Node & { value?: string; callee?: { value: string }; args?: Node[] };
    const name = filter.type === 'CallExpression' ? filter.callee?.value : filter.value;
    if (!['tojson', 'string', 'join', 'trim'].includes(name ?? '')) return null;
    const operand = this.evaluate(node.operand as Node, environment);
    const args = filter.args ?? [];
    if (name === 'string')
      return text(isText(operand) ? operand.value : operand.type === 'UndefinedValue' ? '' : repr(operand));
    if (name === 'tojson') return this.written(text(json(operand, this.jsonStyle(args, environment))));
    if (name === 'trim' && args.length === 0) return stringMethods.strip?.(str(operand), []) ?? null;
    if (name === 'join' && isList(operand) && !args.some((arg) => arg.type === 'KeywordArgumentExpression')) {
      const separator = args[0] ? str(this.evaluate(args[0], environment)) : '';
      return this.written(text(operand.value.map(str).join(separator)));
    }
    return super.evaluate({ ...node, operand: known(operand) }, environment);
  }

  private jsonStyle(args: Node[], environment: Environment): JsonStyle {
    const named = new Map<string, Value>();
    for (const [i, arg] of args.entries()) {
      if (arg.type === 'KeywordArgumentExpression') {
        named.set((arg.key as { value: string }).value, this.evaluate(arg.value as Node, environment));
      } else if (i === 0) named.set('indent', this.evaluate(arg, environment));
    }
    const indent = named.get('indent');
    const separators = named.get('separators');
    const pair = isList(separators) ? separators.value.map(str) : [];
    return {
      indent: isNumber(indent) ? ' '.repeat(indent.value) : isText(indent) ? indent.value : null,
      ascii: named.get('ensure_ascii')?.value === true,
      sort: named.get('sort_keys')?.value === true,
      separators: [pair[0] ?? (indent && indent.type !== 'NullValue' ? ',' : ', '), pair[1] ?? ': '],
    };
  }

  private method(node: Node, environment: Environment): Value | null {
    const callee = node.callee as Node;
    const property = callee.property as { type: string; value: string } | undefined;
    if (callee.type !== 'MemberExpression' || callee.computed || property?.type !== 'Identifier') return null;
    const method = Object.hasOwn(stringMethods, property.value) ? stringMethods[property.value] : undefined;
    if (!method) return null;
    const self = this.evaluate(callee.object as Node, environment);
    const args = node.args as Node[];
    if (isText(self))
      return this.written(
        method(
          self.value,
          args.map((arg) => this.evaluate(arg, environment)),
        ),
      );
    return super.evaluate({ ...node, callee: { ...callee, object: known(self) } }, environment);
  }
}

/** `items()` of a mapping gives tuples. */
function pairs(call: Node, result: Value): Value {
  const { property } = call.callee as { property?: { value?: string } };
  if (property?.value === 'items' && isList(result)) for (const item of result.value) if (isList(item)) asTuple(item);
  return result;
}

const known = (value: Value): Node => ({ type: 'Known', value });
