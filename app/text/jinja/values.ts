import { Environment, Interpreter } from '@huggingface/jinja';

/** A value of the template language, as far as used here (the library exports no types for NodeNext). */
export type Value = { readonly type: string; readonly value: unknown };
export type Callable = (args: Value[]) => Value;
type ValueClass = new (value?: unknown) => Value;

/** Nodes of the library's syntax tree. */
export type Node = { type: string; [field: string]: unknown };

const probe = new Environment() as unknown as { set(name: string, value: unknown): Value };
const classOf = (name: string, value: unknown): ValueClass => probe.set(name, value).constructor as ValueClass;

const Text = classOf('text', '');
const Integer = classOf('integer', 1);
const Float = classOf('float', 0.5);
const Truth = classOf('truth', true);
const List = classOf('list', []);
const Mapping = classOf('mapping', {});
const Fn = classOf('function', () => null);
const None = classOf('none', null);
const Missing = classOf('undefined', undefined);

export const text = (value: string): Value => new Text(value);
export const integer = (value: number): Value => new Integer(value);
export const float = (value: number): Value => new Float(value);
export const truth = (value: boolean): Value => new Truth(value);
export const list = (value: Value[]): Value => new List(value);

/** The library cannot unpack its own tuples in a loop: here they are lists, marked to be printed as tuples. */
const tuples = new WeakSet<Value>();
export function asTuple(value: Value): Value {
  tuples.add(value);
  return value;
}
export const tuple = (value: Value[]): Value => asTuple(list(value));
export const isTuple = (value: Value): boolean => tuples.has(value);

export const mapping = (value: Map<string, Value>): Value => new Mapping(value);
export const callable = (value: Callable): Value => new Fn(value);
export const none: Value = new None(null);
export const missing: Value = new Missing(undefined);

export const isText = (value: Value | undefined): value is Value & { value: string } => value?.type === 'StringValue';
export const isNumber = (value: Value | undefined): value is Value & { value: number } =>
  value?.type === 'IntegerValue' || value?.type === 'FloatValue';
export const isList = (value: Value | undefined): value is Value & { value: Value[] } => value?.type === 'ArrayValue';
export const isMapping = (value: Value | undefined): value is Value & { value: Map<string, Value> } =>
  value?.type === 'ObjectValue' || value?.type === 'NamespaceValue' || value?.type === 'KeywordArgumentsValue';

/** The library's interpreter with its central method. */
export const BaseInterpreter = Interpreter as unknown as new (
  environment: Environment,
) => { evaluate(node: Node | undefined, environment: Environment): Value };
