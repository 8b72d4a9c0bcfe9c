import { Environment, parse, tokenize } from '@huggingface/jinja';
import { createMeter, type Meter, TEMPLATE_LIMITS, TemplateError, type TemplateLimits } from './meter.ts';
import { equal, type JsonStyle, json, lengthOf, str } from './python.ts';
import { withoutUnknownSyntax } from './source.ts';
import { indented, stringMethods } from './strings.ts';
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
} from './values.ts';

/** Longer templates are refused: real ones have tens of thousands of characters at most. */
const MAX_SOURCE = 1_000_000;

/** Renders a Jinja template like transformers (trim_blocks, lstrip_blocks, Python's formatting of values).
 *  @throws TemplateError */
export function renderJinja(
  source: string,
  variables: Readonly<Record<string, unknown>>,
  limits: TemplateLimits = TEMPLATE_LIMITS,
): string {
  try {
    if (source.length > MAX_SOURCE) {
      raise(`a template of ${source.length} characters, at most ${MAX_SOURCE} are allowed`);
    }
    const meter = createMeter(limits);
    const program = parse(tokenize(withoutUnknownSyntax(source), { lstrip_blocks: true, trim_blocks: true }));
    const environment = globals(variables, meter);
    const result = new PythonInterpreter(environment, meter).evaluate(writing(program as unknown as Node), environment);
    return str(result, meter);
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    const reason = error instanceof RangeError ? `too deep or too large (${error.message})` : messageOf(error);
    throw new TemplateError(reason, { cause: error });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function globals(variables: Readonly<Record<string, unknown>>, meter: Meter): Environment {
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
    callable(([message]) => raise(message ? str(message, meter).slice(0, MAX_MESSAGE) : 'raise_exception')),
  );
  set(
    'dict',
    callable((args) => mapping(new Map(args.flatMap((arg) => (isMapping(arg) ? [...arg.value] : []))))),
  );
  set(
    'range',
    callable((args) => range(args, meter)),
  );
  set(
    'strftime_now',
    callable(([format]) => text(strftime(new Date(), isText(format) ? format.value.slice(0, MAX_MESSAGE) : ''))),
  );
  return environment;
}

/** Longer error messages are truncated. */
const MAX_MESSAGE = 2000;

function raise(message: string): never {
  throw new TemplateError(message);
}

function range(args: Value[], meter: Meter): Value {
  const numbers = args.filter(isNumber).map((arg) => arg.value);
  const [start, stop, step] =
    numbers.length < 2 ? [0, numbers[0] ?? 0, 1] : [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 1];
  if (step === 0) raise('range() step must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  meter.spend(length);
  return list(Array.from({ length }, (_, i) => integer(start + i * step)));
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** The format codes used by chat templates, always in English. */
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

/** Marks every output expression: only there Python's str() applies. */
function writing(node: Node): Node {
  for (const field of BODIES) {
    const body = node[field];
    if (Array.isArray(body))
      node[field] = body.map((child: Node) => (STATEMENTS.has(child.type) ? writing(child) : output(child)));
  }
  // Every loop iteration is a step, even with an empty body.
  if (node.type === 'For') node.body = [{ type: 'Round' }, ...(node.body as Node[])];
  return node;
}
const output = (expression: Node): Node => ({ type: 'Output', expression });

/** Overrides the library's interpreter where it differs from Python: output, `~`, `==`, tojson, join, methods of str. And where
 *  it builds values without limits: growth is charged here first. */
class PythonInterpreter extends BaseInterpreter {
  private readonly meter: Meter;

  constructor(environment: Environment, meter: Meter) {
    super(environment);
    this.meter = meter;
  }

  override evaluate(node: Node | undefined, environment: Environment): Value {
    this.meter.spend(1);
    switch (node?.type) {
      case 'Output':
        return this.written(this.evaluate(node.expression as Node, environment));
      case 'BinaryExpression':
        return this.binary(node, environment);
      case 'FilterExpression':
        return this.made(this.filter(node, environment));
      case 'CallExpression':
        return this.made(pairs(node, super.evaluate(counting(node), environment)));
      case 'MemberExpression':
        return this.member(node, environment);
      case 'For':
        return this.loop(node, environment);
      case 'TupleLiteral':
        return tuple((node.value as Node[]).map((item) => this.evaluate(item, environment)));
      case 'Round':
        return none;
      case 'Known':
        return node.value as Value;
      case 'Counted':
        return this.made(this.evaluate(node.expression as Node, environment));
      default:
        return super.evaluate(node, environment);
    }
  }

  private written(value: Value): Value {
    const result = str(value, this.meter);
    this.meter.write(result.length);
    return text(result);
  }

  /** Charges a new value: its characters and elements. */
  private made(value: Value): Value {
    if (isText(value)) this.meter.write(value.value.length);
    else this.meter.spend(partsOf(value));
    return value;
  }

  private binary(node: Node, environment: Environment): Value {
    const operator = (node.operator as { value: string }).value;
    // Python evaluates the right side of these lazily.
    if (operator === 'and' || operator === 'or') return super.evaluate(node, environment);
    const left = this.evaluate(node.left as Node, environment);
    const right = this.evaluate(node.right as Node, environment);
    if (operator === '+') return this.sum(node, left, right, environment);
    if (operator === '~') return this.joined(str(left, this.meter), str(right, this.meter));
    if (operator === '==' || operator === '!=') return truth(equal(left, right, this.meter) === (operator === '=='));
    if (isText(right)) this.meter.read(right.value.length);
    else this.meter.spend(partsOf(right) >> 4);
    return super.evaluate({ ...node, left: known(left), right: known(right) }, environment);
  }

  /** Concatenation is charged by its smaller operand: appending to a long text is cheap, doubling it is not. */
  private sum(node: Node, left: Value, right: Value, environment: Environment): Value {
    if (isText(left) && isText(right)) return this.joined(left.value, right.value);
    if (isList(left) && isList(right)) {
      this.meter.spend(left.value.length + right.value.length);
      return list(left.value.concat(right.value));
    }
    return super.evaluate({ ...node, left: known(this.flat(left)), right: known(this.flat(right)) }, environment);
  }

  /** The library stringifies a list that is added to a text, however deeply its elements share each other. */
  private flat(value: Value): Value {
    if (isList(value) || isMapping(value)) this.written(value);
    return value;
  }

  private joined(left: string, right: string): Value {
    this.meter.write(Math.min(left.length, right.length));
    return text(left + right);
  }

  /** A loop materialises all its values, and an environment for each. */
  private loop(node: Node, environment: Environment): Value {
    const iterable = node.iterable as Node;
    if (iterable.type === 'SelectExpression') {
      const lhs = iterable.lhs as Node;
      if (lhs.type === 'Counted') return super.evaluate(node, environment);
      return super.evaluate({ ...node, iterable: { ...iterable, lhs: counted(lhs) } }, environment);
    }
    return super.evaluate({ ...node, iterable: counted(iterable) }, environment);
  }

  /** Filters that the library formats like JavaScript, or builds without limits; the operand is evaluated once. */
  private filter(node: Node, environment: Environment): Value {
    const filter = node.filter as Node & { value?: string; callee?: { value: string }; args?: Node[] };
    const name = filter.type === 'CallExpression' ? filter.callee?.value : filter.value;
    const operand = this.evaluate(node.operand as Node, environment);
    const args = filter.args ?? [];
    this.looked(operand, name === 'sort' || name === 'dictsort');
    switch (name) {
      case 'string':
        return isText(operand) ? operand : text(str(operand, this.meter));
      case 'tojson':
        return text(json(operand, this.jsonStyle(args, environment), this.meter));
      case 'trim':
        if (args.length > 0) break;
        return stringMethods.strip?.(str(operand, this.meter), [], this.meter) ?? none;
      case 'replace':
        return this.replaced(str(operand, this.meter), args, environment);
      case 'indent':
        return this.indent(str(operand, this.meter), args, environment);
      case 'join':
        if (!isList(operand)) break;
        return this.join(operand.value, args, environment);
    }
    const handed = filter.type === 'CallExpression' ? counting(filter) : filter;
    return super.evaluate({ ...node, operand: known(operand), filter: handed }, environment);
  }

  /** `sorting`: every value is read several times. */
  private looked(operand: Value, sorting: boolean): void {
    if (isText(operand)) {
      this.meter.read(operand.value.length);
      return;
    }
    const parts = partsOf(operand);
    const times = sorting ? Math.ceil(Math.log2(parts + 1)) : 1;
    this.meter.spend((parts >> 2) * times);
    if (!sorting || !isList(operand)) return;
    for (const item of operand.value) if (isText(item)) this.meter.read(item.value.length * times);
  }

  private replaced(self: string, args: Node[], environment: Environment): Value {
    const { positional, named } = this.argumentsOf(args, environment);
    const count = named.get('count');
    return stringMethods.replace?.(self, count ? [...positional.slice(0, 2), count] : positional, this.meter) ?? none;
  }

  private indent(self: string, args: Node[], environment: Environment): Value {
    const { positional, named } = this.argumentsOf(args, environment);
    const width = positional[0] ?? named.get('width') ?? integer(4);
    const isTrue = (value: Value | undefined) => value?.value === true;
    if (!isNumber(width) && !isText(width)) throw new TypeError('indent() width must be a number or a text');
    return indented(
      self,
      {
        width: width.value,
        first: isTrue(positional[1] ?? named.get('first')),
        blank: isTrue(positional[2] ?? named.get('blank')),
      },
      this.meter,
    );
  }

  private join(items: readonly Value[], args: Node[], environment: Environment): Value {
    const { positional, named } = this.argumentsOf(args, environment);
    const separator = positional[0] ?? named.get('d') ?? named.get('separator');
    const between = separator ? str(separator, this.meter) : '';
    const parts = items.map((item) => str(item, this.meter));
    this.meter.write(lengthOf(parts, between));
    return text(parts.join(between));
  }

  private argumentsOf(args: Node[], environment: Environment): { positional: Value[]; named: Map<string, Value> } {
    const positional: Value[] = [];
    const named = new Map<string, Value>();
    for (const arg of args) {
      if (arg.type === 'KeywordArgumentExpression') {
        named.set((arg.key as { value: string }).value, this.evaluate(arg.value as Node, environment));
      } else positional.push(this.evaluate(arg, environment));
    }
    return { positional, named };
  }

  private jsonStyle(args: Node[], environment: Environment): JsonStyle {
    const { positional, named } = this.argumentsOf(args, environment);
    const indent = positional[0] ?? named.get('indent');
    const separators = named.get('separators');
    const pair = isList(separators) ? separators.value.map((part) => str(part, this.meter)) : [];
    return {
      indent: indentOf(indent),
      ascii: named.get('ensure_ascii')?.value === true,
      sort: named.get('sort_keys')?.value === true,
      separators: [pair[0] ?? (indent && indent.type !== 'NullValue' ? ',' : ', '), pair[1] ?? ': '],
    };
  }

  /** String methods are ours, however they are accessed; slices are charged. */
  private member(node: Node, environment: Environment): Value {
    const property = node.property as Node & { value?: unknown };
    const object = this.evaluate(node.object as Node, environment);
    const of = { ...node, object: known(object) };
    if (node.computed && property.type === 'SliceExpression') {
      // The library splits a text into characters.
      this.meter.spend(isText(object) ? object.value.length >> 4 : partsOf(object) >> 2);
      return this.made(super.evaluate(of, environment));
    }
    const name = node.computed ? this.evaluate(property, environment) : null;
    const key = name ? name.value : property.value;
    if (isText(object) && typeof key === 'string' && Object.hasOwn(stringMethods, key)) {
      const method = stringMethods[key];
      return callable((args) => {
        this.meter.read(object.value.length);
        return method?.(object.value, args, this.meter) ?? none;
      });
    }
    return super.evaluate(name ? { ...of, property: known(name) } : of, environment);
  }
}

const MAX_INDENT = 64;

function indentOf(indent: Value | undefined): string | null {
  if (isText(indent)) return indent.value;
  if (!isNumber(indent)) return null;
  if (!(indent.value <= MAX_INDENT)) raise(`tojson() with an indent of ${indent.value}, at most ${MAX_INDENT}`);
  return ' '.repeat(Math.max(0, indent.value));
}

const partsOf = (value: Value): number =>
  isList(value) ? value.value.length : isMapping(value) ? value.value.size : 0;

/** `items()` of a mapping yields tuples. */
function pairs(call: Node, result: Value): Value {
  const { property } = call.callee as { property?: { value?: string } };
  if (property?.value === 'items' && isList(result)) for (const item of result.value) if (isList(item)) asTuple(item);
  return result;
}

const known = (value: Value): Node => ({ type: 'Known', value });
const counted = (expression: Node): Node => ({ type: 'Counted', expression });

/** Charges lists that are unpacked into arguments. */
function counting(call: Node): Node {
  const args = call.args as Node[];
  const spread = (arg: Node) =>
    arg.type === 'SpreadExpression' ? { ...arg, argument: counted(arg.argument as Node) } : arg;
  return { ...call, args: args.map(spread) };
}
