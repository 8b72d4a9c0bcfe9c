import { join } from 'node:path';
import { expect, test } from 'vitest';
import { samplingFor } from '../../../../../app/engine/process/generation/sampling-for.ts';
import type { LoadedModel } from '../../../../../app/engine/process/model/loaded-model.ts';
import { readModelText } from '../../../../../app/engine/process/model/tokenizer-files.ts';
import { addon } from '../../../../support/addon.ts';

const starter = join(import.meta.dirname, '../../../../../resources/starter-model');

test('a text leads with its tokens and may end the answer, but not what was taken back because it went in circles', async () => {
  const text = await readModelText(addon, starter);
  const model = { text: { ...text, vision: null }, native: { vocabularySize: text.tokenizer.size } };
  const options = (rewound: Parameters<typeof samplingFor>[2]['rewound']) =>
    samplingFor(
      model as unknown as LoadedModel,
      { sampling: {}, exemplars: [{ text: 'It is green.', weight: 3 }] },
      { seed: 1, rewound, written: [] },
    );
  const [led] = options(null).exemplars ?? [];
  expect(led?.weight).toBe(3);
  expect(text.decode(led?.tokens.slice(0, -1) ?? [])).toBe('It is green.');
  expect(text.stopIds).toContain(led?.tokens.at(-1));
  expect(options({ times: 1, kind: 'exact', json: false }).exemplars).toBeUndefined();
});

test('rows behind the vocabulary and the place of a picture are never written; a bias on tokens that are none is left out', async () => {
  const text = await readModelText(addon, starter);
  const { size } = text.tokenizer;
  const of = (rows: number, vision: object | null, asked: object = {}, rewound: object | null = null) =>
    samplingFor(
      {
        text: { ...text, sampling: { temperature: 0.7, topK: 5 }, vision },
        native: { vocabularySize: rows },
      } as unknown as LoadedModel,
      { sampling: { maxTokens: 9, topK: 3 }, ...asked } as Parameters<typeof samplingFor>[1],
      { seed: 4, rewound: rewound as Parameters<typeof samplingFor>[2]['rewound'], written: [] },
    );
  expect(of(size, null)).toEqual({ temperature: 0.7, topK: 3, seed: 4 });
  expect(of(size + 2, { token: 7 }).forbidden).toEqual([size, size + 1, 7]);
  const bias = { tokens: [1, size + 2, 2, size + 1], values: [-1, 5, 3, 4] };
  expect(of(size + 2, null, { bias }).bias).toEqual({ tokens: [1, 2, size + 1], values: [-1, 3, 4] });
  // Going back makes no answer cooler than it was.
  const rewound = { times: 1, kind: 'exact', json: false };
  expect(of(size, null, {}, rewound).temperature).toBe(0.7);
  expect(of(size, null, { sampling: { temperature: 0.1 } }, rewound).temperature).toBe(0.6);
});
