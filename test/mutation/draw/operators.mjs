// The mutants that a draw makes, over the syntax tree (tree-sitter): each is one that somebody could have written. A mutant is the
// node it replaces, and the text that stands there instead; `statement` marks one that leaves a whole statement out.
const BORDERS = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '===': '!==', '!==': '===' };
const LOGIC = { '&&': '||', '||': '&&' };
const SIGNS = { '+': '-', '-': '+' };
const ASSIGNED = { '+=': '-=', '-=': '+=' };
const OTHERS = {
  min: 'max',
  max: 'min',
  every: 'some',
  some: 'every',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
};
const SYNCHRONISES = /[bB]arrier|[fF]ence|^wait|Wait|[fF]lush|^sync|^(?:un)?lock|^notify|^join$/;
/** What is called for its speed or for whoever debugs: without it nothing else comes out. */
const WITHOUT_EFFECT =
  /^(?:reserve|shrink_to_fit|prefetch|assert|unref|debug|log|warn|info|performance|super)$|_prefetch$/;
const ENDS = /^(?:return|throw|continue|break)_statement$/;

const isText = (node) =>
  /string/.test(node.type) || node.descendantsOfType(['string', 'template_string', 'string_literal']).length > 0;
const isOne = (node) => node.text === '1';
const named = (node) => node.namedChildren.filter((child) => child.type !== 'comment');
/** The name that a call ends in: `c` of `a::b.c(…)`. */
const calledName = (call) => /(\w+)\s*(?:<[^()]*>)?$/.exec(call.childForFieldName('function')?.text ?? '')?.[1] ?? '';
const unwrapped = (node) =>
  node.type === 'parenthesized_expression' && named(node).length === 1 ? named(node)[0] : node;

/** Whether a product says how far a step of an index goes. */
function isStride(node) {
  let above = node.parent;
  while (
    above &&
    (above.type === 'parenthesized_expression' || /^(?:binary_expression|argument_list)$/.test(above.type))
  ) {
    if (above.type === 'binary_expression' && above.childForFieldName('operator').text === '+') return true;
    above = above.parent;
  }
  return /subscript/.test(above?.type ?? '');
}

function* binary(node) {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  const sign = node.childForFieldName('operator')?.text;
  const as = (other) => `${left.text} ${other} ${right.text}`;
  if (BORDERS[sign]) yield { operator: 'comparison', to: as(BORDERS[sign]) };
  else if (LOGIC[sign]) yield { operator: 'logic', to: as(LOGIC[sign]) };
  else if (sign === '??') yield { operator: 'default', to: left.text };
  else if (SIGNS[sign] && isOne(right) && !isText(left)) yield { operator: 'bounds', to: left.text };
  else if (SIGNS[sign] && !isText(left) && !isText(right)) yield* sum(left, sign, right, as);
  else if (sign === '*') {
    if (isStride(node)) yield { operator: 'stride', to: `${left.text} * (${right.text} + 1)` };
    else yield { operator: 'scale', to: as('/') };
  } else if (sign === '/') yield* quotient(left, right, as);
  else if (sign === '%') yield { operator: 'tail', to: `${left.text} % (${right.text} + 1)` };
}

function* sum(left, sign, right, as) {
  const part = unwrapped(right);
  const rounds = sign === '-' && part.type === 'binary_expression' && part.childForFieldName('operator')?.text === '%';
  yield rounds ? { operator: 'tail', to: left.text } : { operator: 'sign', to: as(SIGNS[sign]) };
}

function* quotient(left, right, as) {
  const up = new RegExp(`^(.*) \\+ ${right.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')} - 1$`).exec(
    unwrapped(left).text,
  );
  yield up ? { operator: 'tail', to: `(${up[1]}) / ${right.text}` } : { operator: 'scale', to: as('*') };
}

function* call(node) {
  const name = calledName(node);
  const [callee, list] = [node.childForFieldName('function'), node.childForFieldName('arguments')];
  if (!callee || !list) return;
  if (Object.hasOwn(OTHERS, name) && callee.text.endsWith(name)) {
    const operator = name === 'min' || name === 'max' ? 'bounds' : 'comparison';
    yield { operator, to: `${callee.text.slice(0, -name.length)}${OTHERS[name]}${list.text}` };
  }
  const given = named(list);
  const plain = (one) => /^(?:identifier|member_expression|field_expression)$/.test(one.type);
  for (const [k, one] of given.entries()) {
    const next = given[k + 1];
    if (!next || !plain(one) || !plain(next) || one.text === next.text) continue;
    const swapped = [...given.slice(0, k), next, one, ...given.slice(k + 2)];
    yield { operator: 'swapped argument', to: `${callee.text}(${swapped.map(({ text }) => text).join(', ')})` };
    return;
  }
}

function* statement(node) {
  const [whole] = named(node);
  if (!whole) return;
  const called = whole.type === 'await_expression' ? named(whole)[0] : whole;
  if (called?.type !== 'call_expression' || WITHOUT_EFFECT.test(calledName(called))) return;
  const operator = SYNCHRONISES.test(calledName(called)) ? 'barrier' : 'call left out';
  yield { operator, to: '', at: whole, statement: true };
  if (whole !== called) yield { operator: 'await', to: `void ${called.text}`, at: whole };
}

function* guard(node) {
  if (node.childForFieldName('alternative')) return;
  const then = node.childForFieldName('consequence');
  const [first, ...more] = /block|compound/.test(then?.type ?? '') ? named(then) : [then];
  if (!first || more.length > 0 || !ENDS.test(first.type)) return;
  const condition = node.childForFieldName('condition');
  const [asked, ...declared] = named(condition);
  if (declared.length === 0 && !/declaration|init_statement/.test(asked.type))
    yield { operator: 'guard', to: 'false', at: asked };
}

const OF = {
  binary_expression: binary,
  call_expression: call,
  expression_statement: statement,
  if_statement: guard,
  *unary_expression(node) {
    const what = node.childForFieldName('argument');
    if (node.childForFieldName('operator')?.text === '!') yield { operator: 'logic', to: what.text };
  },
  *augmented_assignment_expression(node) {
    yield* assigned(node);
  },
  *assignment_expression(node) {
    yield* assigned(node);
  },
};

function* assigned(node) {
  const sign = node.childForFieldName('operator')?.text;
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  if (ASSIGNED[sign] && !isText(right)) yield { operator: 'sign', to: `${left.text} ${ASSIGNED[sign]} ${right.text}` };
}

/** The mutants at one node. */
export const mutantsAt = (node) => [...(OF[node.type]?.(node) ?? [])].map((mutant) => ({ at: node, ...mutant }));
