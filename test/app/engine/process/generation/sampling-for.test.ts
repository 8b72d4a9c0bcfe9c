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
