// Text that was shown once is not shown twice, whatever is taken back or written by hand.
import { expect, test } from 'vitest';
import { createOutputBuffer } from '../../../../../app/engine/process/generation/output-buffer.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';
import { starter } from '../../../../support/models/models.ts';

const own = await readModelText(addon, starter);
const model = { ...own, thinking: { open: '<think>', close: '</think>' } };
const ids = (text: string) => own.tokenizer.encodeText(text, false);
const none = { ids: [], shown: { thinking: 0, answer: 0 } };

function buffer(more: Partial<Parameters<typeof createOutputBuffer>[0]> = {}) {
  const made = createOutputBuffer({ model, inThinking: false, stops: [], continuation: none, ...more });
  const write = (text: string) => ids(text).flatMap((id) => made.push(id).parts);
  const said = (parts: { kind: string; text: string }[], kind: string) =>
    parts
      .filter((part) => part.kind === kind)
      .map(({ text }) => text)
      .join('');
  return { made, write, said };
}

test('after a cut, what comes anew is shown from where the text became shorter', () => {
  const { made, write, said } = buffer();
  const parts = write('The cat sat on the mat');
  expect(said([...parts, ...made.flush()], 'answer')).toBe('The cat sat on the mat');
  const kept = ids('The cat sat').length;
  expect(made.cut(kept)).toEqual([{ kind: 'answer', from: 'The cat sat'.length }]);
  expect(made.ids).toEqual(ids('The cat sat'));
  expect(said([...write(' up'), ...made.flush()], 'answer')).toBe(' up');
  // Nothing becomes shorter: nothing is told.
  expect(made.cut(made.ids.length)).toEqual([]);
});

test('thinking has its own length, and its tokens are told apart from those of the answer', () => {
  const { made, write, said } = buffer({ inThinking: true });
  expect(made.inThinking).toBe(true);
  const [first] = ids('Hm');
  expect(made.push(first ?? 0)).toMatchObject({ place: 'thinking', stopped: false });
  const parts = [...write(' I see</think>Yes indeed'), ...made.flush()];
  expect(made.inThinking).toBe(false);
  expect(made.push(first ?? 0).place).toBe('answer');
  expect(said(parts, 'answer')).toContain('Yes indeed');
  const [thinking, answer] = made.cut(1);
  expect(thinking).toEqual({ kind: 'thinking', from: own.decode([first ?? 0]).length });
  expect(answer).toEqual({ kind: 'answer', from: 0 });
  expect(made.inThinking).toBe(true);
});

test('an answer that goes on shows only what nobody has seen; one that was edited by hand precedes all and is no thinking', () => {
  const earlier = { ids: ids('The cat'), shown: { thinking: 0, answer: 3 } };
  const again = buffer({ continuation: earlier });
  expect(again.said([...again.write(' sat'), ...again.made.flush()], 'answer')).toMatch(/ sat$/);
  expect(again.made.ids).toEqual([...ids('The cat'), ...ids(' sat')]);
  const edited = buffer({ inThinking: true, continuation: { ids: [], shown: { thinking: 0, answer: 8 } } });
  expect(edited.made.inThinking).toBe(false);
  expect(edited.said([...edited.write('More words'), ...edited.made.flush()], 'answer')).toBe('More words');
  expect(edited.made.cut(0)).toEqual([{ kind: 'answer', from: 8 }]);
  const thought = buffer({ inThinking: true, continuation: { ids: [], shown: { thinking: 5, answer: 0 } } });
  expect(thought.made.inThinking).toBe(false);
});

test('a stop string ends it, and is named', () => {
  const { made, write } = buffer({ stops: [' END'] });
  expect(made.stoppedBy).toBeNull();
  write('It is over END');
  expect(made.stoppedBy).toBe(' END');
});
