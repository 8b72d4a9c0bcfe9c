import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advance, emptyStream, sectionStarts, splitBlocks } from '../../../../renderer/ui/markdown/blocks.ts';
import { recordedAnswer } from '../../../support/recorded-answer.ts';
import { attacks } from '../../page/attacks.ts';

const kinds = (text: string) => splitBlocks(text).map((block) => block.kind);

describe('blocks of a finished text', () => {
  test('a fence holds everything up to its own closing mark', () => {
    expect(splitBlocks('````md\n```js\na\n```\n````\nafter')).toEqual([
      { kind: 'code', language: 'md', text: '```js\na\n```', closed: true },
      { kind: 'leaf', source: 'after' },
    ]);
  });

  test('a fence without an end is open code to the end of the text', () => {
    expect(splitBlocks('~~~\na\n\nb')).toEqual([{ kind: 'code', language: '', text: 'a\n\nb', closed: false }]);
  });

  test('display formulas in both notations, and none without an end', () => {
    expect(splitBlocks('$$\nx\n$$')).toEqual([{ kind: 'math', tex: 'x' }]);
    expect(splitBlocks('\\[ x + y \\]')).toEqual([{ kind: 'math', tex: 'x + y' }]);
    expect(kinds('\\[ x\n\nnot closed')).toEqual(['leaf', 'leaf']);
    expect(kinds('\\[ x \\] is inside a sentence')).toEqual(['leaf']);
  });

  test('a list keeps its start, its nested lines and its blank lines', () => {
    expect(splitBlocks('3. a\n   - b\n4. c\n\n5. d\n\nafter')).toEqual([
      { kind: 'list', ordered: true, start: 3, items: ['a\n- b', 'c', 'd'] },
      { kind: 'leaf', source: 'after' },
    ]);
  });

  test('two spaces nest below a number, as models write it', () => {
    expect(splitBlocks('1. a\n  - b\n2. c')).toEqual([
      { kind: 'list', ordered: true, start: 1, items: ['a\n- b', 'c'] },
    ]);
  });

  test('a year at the start of a line does not become a list', () => {
    expect(splitBlocks('It was\n1984. A cold day.')).toEqual([{ kind: 'leaf', source: 'It was\n1984. A cold day.' }]);
  });

  test('a table has aligned columns, escaped bars and rows of equal length', () => {
    expect(splitBlocks('| a | b |\n|:-:|--:|\n| x \\| y | 1 |\n| only one |')).toEqual([
      {
        kind: 'table',
        align: ['center', 'end'],
        header: ['a', 'b'],
        rows: [
          ['x | y', '1'],
          ['only one', ''],
        ],
      },
    ]);
  });

  test('a quote carries its own blocks', () => {
    expect(splitBlocks('> # a\n> - b\nlazy')).toEqual([{ kind: 'quote', source: '# a\n- b\nlazy' }]);
  });

  test('a line of dashes below text is a heading, on its own a rule', () => {
    expect(kinds('Title\n---\n\n---')).toEqual(['leaf', 'rule']);
  });
});

describe('a growing text', () => {
  const texts = [recordedAnswer(800), ...attacks, 'a\n\n```js\nb', '- a\n\n  b\n- c\n\nd', '| a |\n|---|\n| b |\n\nc'];

  test('ends with the same blocks as the whole text, in whatever pieces it came', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 }),
        (text, steps) => {
          let stream = emptyStream;
          for (let at = 0, step = 0; at < text.length; step += 1) {
            at += steps[step % steps.length] as number;
            stream = advance(stream, text.slice(0, at));
          }
          expect([...stream.finished, ...(stream.open ? [stream.open] : [])]).toEqual(splitBlocks(text));
        },
      ),
      { numRuns: 150 },
    );
  });

  test('never makes a finished block again', () => {
    const text = recordedAnswer(3000);
    let stream = emptyStream;
    for (let at = 0; at < text.length; at += 61) {
      const next = advance(stream, text.slice(0, at));
      for (const [index, block] of stream.finished.entries()) expect(next.finished[index]).toBe(block);
      stream = next;
    }
    expect(stream.finished.length).toBeGreaterThan(8);
  });

  test('starts over when text was taken back', () => {
    const stream = advance(emptyStream, 'a\n\nb\n\nc');
    expect(advance(stream, 'a\n\nx').finished).toEqual([{ kind: 'leaf', source: 'a' }]);
  });

  test('sections only grow at the end', () => {
    const blocks = splitBlocks(recordedAnswer(6000));
    const half = sectionStarts(blocks.slice(0, blocks.length / 2));
    expect(sectionStarts(blocks).slice(0, half.length)).toEqual(half);
    expect(half.length).toBeGreaterThan(2);
  });
});
