import { type Tool, ToolError, textIn } from '../tool.ts';
import { evaluate } from './arithmetic.ts';

export const calculator: Tool = {
  name: 'calculator',
  builtIn: true,
  description:
    'Calculates exactly. Use it for every calculation with more than small numbers. ' +
    'Knows + - * / ^ ( ), % as modulo between two numbers and as percent behind one, !, pi, e, and ' +
    'sqrt abs round(x, digits) floor ceil min max gcd lcm exp ln log10 log2 sin cos tan asin acos atan (radians).',
  parameters: {
    type: 'object',
    properties: { expression: { type: 'string', description: 'For example "(1249.90 + 80) * 19%"' } },
    required: ['expression'],
  },
  run(given) {
    const expression = textIn(given, 'expression');
    try {
      return evaluate(expression);
    } catch (error) {
      throw new ToolError('arguments', error instanceof Error ? error.message : String(error));
    }
  },
};
