import { expect, test } from 'vitest';
import { createOutputDecoder } from '../../../../../app/engine/process/generation/output-decoder.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';
import { starter } from '../../../../support/models/models.ts';

const model = await readModelText(addon, starter);

function written(text: string, stops: readonly string[]): { text: string; stopped: boolean } {
  const decoder = createOutputDecoder(model, { inThinking: false, stops });
  const said: string[] = [];
  for (const id of model.tokenizer.encodeText(text)) {
    const { parts, stopped } = decoder.push(id);
    said.push(...parts.map((part) => part.text));
    if (stopped) return { text: said.join(''), stopped };
  }
  said.push(...decoder.flush().map((part) => part.text));
  return { text: said.join(''), stopped: false };
}

test('what could have become a stop string is given out when the answer ends before it does', () => {
  expect(written('one ##', ['###'])).toEqual({ text: 'one ##', stopped: false });
  expect(written('one ###two', ['###'])).toEqual({ text: 'one ', stopped: true });
});
