import { describe, expect, test } from 'vitest';
import { references, withoutRemarks, withRemarks } from '../../../../renderer/ui/markdown/references.ts';

type Node = { type: string; value?: string; children?: Node[]; data?: { hName: string; hProperties: object } };

const told = (node: Node): unknown =>
  node.data ? [node.data.hName, node.data.hProperties] : (node.value ?? node.children?.map(told));
const run = (...children: Node[]): unknown => {
  const tree: Node = { type: 'root', children };
  references()(tree);
  return told(tree);
};

describe('numbers and remarks in a text', () => {
  test('a number in brackets becomes an element, the text around it stays', () => {
    expect(run({ type: 'text', value: 'So [1], and [23][4].' })).toEqual([
      'So ',
      ['cite', { dataNumber: '1' }],
      ', and ',
      ['cite', { dataNumber: '23' }],
      ['cite', { dataNumber: '4' }],
      '.',
    ]);
  });

  test('also inside emphasis; code, links of another kind and long numbers stay text', () => {
    expect(run({ type: 'strong', children: [{ type: 'text', value: '[2]' }] })).toEqual([
      [['cite', { dataNumber: '2' }]],
    ]);
    expect(run({ type: 'inlineCode', value: 'a[1]' })).toEqual(['a[1]']);
    expect(run({ type: 'text', value: '[a] [1234] []' })).toEqual(['[a] [1234] []']);
  });

  test('a remark goes behind its sentence, before the space, and becomes an element', () => {
    const text = withRemarks('One. Two. ', [
      { end: 10, index: 1 },
      { end: 5, index: 0 },
    ]);
    expect(run({ type: 'text', value: text })).toEqual([
      'One.',
      ['data', { dataNumber: '0' }],
      ' Two.',
      ['data', { dataNumber: '1' }],
      ' ',
    ]);
    expect(withoutRemarks(text)).toBe('One. Two. ');
  });

  test('no remark inside a code block, and none that the text itself brought along', () => {
    const code = 'A.\n\n```\nx = 1\n```\n';
    expect(withRemarks(code, [{ end: 13, index: 0 }])).toBe(code);
    expect(withRemarks('bad \uE0029\uE003', [])).not.toMatch(/[\uE002\uE003]/);
  });

  test('an end beyond the text does no harm', () => {
    expect(withoutRemarks(withRemarks('Hi.', [{ end: 99, index: 3 }]))).toBe('Hi.');
  });

  test('a chip stands behind its sentence, also before a bracket; what comes in cannot make one', () => {
    const text = withRemarks('One.(so) Two.', [{ end: 13, index: 0 }], [{ end: 4, number: 3 }]);
    const tree = { type: 'root', children: [{ type: 'text', value: text }] };
    references()(tree as never);
    const said = tree.children as { value?: string; data?: { hName: string } }[];
    expect(said.map((node) => node.value?.trim() ?? node.data?.hName)).toEqual(['One.', 'cite', '(so) Two.', 'data']);
    expect(withRemarks('bad \uE0049\uE003', [])).not.toMatch(/[\uE002-\uE004]/);
  });
});
