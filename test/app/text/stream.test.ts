import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStopFinder } from '../../../app/text/stop-strings.ts';
import { createThinkingSplitter, opensThinking, type Part } from '../../../app/text/thinking.ts';

const markers = { open: '<think>', close: '</think>' };
/** All ways to cut a text into pieces. */
const cuts = (text: string) =>
  fc.array(fc.nat(text.length)).map((places) => {
    const sorted = [0, ...places.toSorted((a, b) => a - b), text.length];
    return sorted.slice(1).map((place, i) => text.slice(sorted[i], place));
  });

describe('stop strings', () => {
  const run = (stops: string[], pieces: string[]) => {
    const finder = createStopFinder(stops);
    let text = '';
    let stopped: string | null = null;
    for (const piece of pieces) {
      const result = finder.push(piece);
      text += result.text;
      stopped ??= result.stopped;
    }
    return { text: text + (stopped === null ? finder.flush() : ''), stopped };
  };

  test('are found across token borders, and nothing of them is shown', () => {
    expect(run(['END'], ['one E', 'N', 'D two'])).toEqual({ text: 'one ', stopped: 'END' });
    expect(run(['\n\nUser:'], ['a\n', '\nUse', 'r: b'])).toEqual({ text: 'a', stopped: '\n\nUser:' });
  });
  test('that do not come are given out', () => {
    expect(run(['END'], ['one EN', 'ough', ' E'])).toEqual({ text: 'one ENough E', stopped: null });
  });
  test('the one that is complete first wins, empty ones are ignored', () => {
    expect(run(['abcdef', 'cd', ''], ['xxabcdef'])).toEqual({ text: 'xxab', stopped: 'cd' });
    expect(run([''], ['text'])).toEqual({ text: 'text', stopped: null });
  });
  test('after the stop nothing comes', () => {
    const finder = createStopFinder(['.']);
    expect(finder.push('a.b')).toEqual({ text: 'a', stopped: '.' });
    expect(finder.push('c')).toEqual({ text: '', stopped: '.' });
    expect(finder.flush()).toBe('');
  });
  test('do not depend on how the text is cut (fuzz)', () => {
    const text = 'aabaabcaababcab<|x|>abcd';
    fc.assert(
      fc.property(cuts(text), fc.subarray(['abc', 'bca', '<|x|>', 'zz', 'aabab']), (pieces, stops) => {
        expect(run(stops, pieces)).toEqual(run(stops, [...text]));
      }),
    );
  });
});

describe('thinking', () => {
  const run = (pieces: string[], begun = false, pair: typeof markers | null = markers) => {
    const splitter = createThinkingSplitter(pair, begun);
    const parts: Part[] = pieces.flatMap((piece) => splitter.push(piece));
    parts.push(...splitter.flush());
    const join = (kind: string) =>
      parts
        .filter((part) => part.kind === kind)
        .map((part) => part.text)
        .join('');
    return { thinking: join('thinking'), answer: join('answer') };
  };

  test.each([
    ['begun by the model', '<think>\nwhy\n</think>\n\nYes.', false, { thinking: 'why', answer: 'Yes.' }],
    ['begun by the template', '\nwhy\nand how\n</think>\n\nYes.', true, { thinking: 'why\nand how', answer: 'Yes.' }],
    ['none', 'Yes, <think> is a tag.', false, { thinking: '', answer: 'Yes, <think> is a tag.' }],
    ['empty', '<think>\n\n</think>\n\nYes.', false, { thinking: '', answer: 'Yes.' }],
    ['never closed', '<think>hm </thi', false, { thinking: 'hm </thi', answer: '' }],
    ['never closed, ending in blank lines', '<think>\nhm\n\n\n', false, { thinking: 'hm', answer: '' }],
    [
      'a second block is text',
      '<think>a</think>b<think>c</think>',
      false,
      { thinking: 'a', answer: 'b<think>c</think>' },
    ],
  ])('%s', (_, text, begun, expected) => {
    fc.assert(
      fc.property(cuts(text), (pieces) => {
        expect(run(pieces, begun)).toEqual(expected);
      }),
    );
  });
  test('a model without markers answers only', () => {
    expect(run(['<think>x</think>'], false, null)).toEqual({ thinking: '', answer: '<think>x</think>' });
  });
  test('a flood of white space is not held back', () => {
    const splitter = createThinkingSplitter(markers, true);
    splitter.push('x');
    const given = Array.from({ length: 100_000 }, () => splitter.push('\n')).flat();
    // Only as much as may stand before a closing marker waits for it.
    expect(given.map(({ text }) => text).join('').length).toBeGreaterThan(100_000 - 500);
  });
  test('an open block at the end of a prompt', () => {
    expect(opensThinking('assistant\n<think>\n', markers)).toBe(true);
    expect(opensThinking('assistant\n<think>\n\n</think>\n\n', markers)).toBe(false);
    expect(opensThinking('<think> is a tag', markers)).toBe(false);
    expect(opensThinking('', markers)).toBe(false);
  });
});
