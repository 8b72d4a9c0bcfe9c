import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { newFolder } from '../../support/core/core.ts';
import { type GgufValue, gguf, llama } from '../../support/models/formats.ts';
import { tallyOf } from '../tally.ts';

//  Growth of the engine with the largest accepted tokenizers, and with larger ones.

vi.setConfig({ testTimeout: 240_000 });
const tally = tallyOf('tokenizers');
const MAX_GROWTH = 400e6;

const good = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../golden/tokenizers/bpe_smollm/tokenizer.json'), 'utf8'),
);
const range = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i));
const vocabulary = (length: number) =>
  Object.fromEntries([...Object.entries(good.model.vocab), ...range(length, (i) => [`t${i}`, 1000 + i])]);
const bpe = (tokens: number, merges: unknown[]) => ({
  ...good,
  model: { ...good.model, vocab: vocabulary(tokens), merges },
});
const lists = (length: number) => range(length, (i) => [`t${i}`, `t${i + 1}`]);

/** Contents of tokenizer.json, and whether it is accepted. */
const LARGE: Readonly<Record<string, [make: () => string, read: boolean]>> = {
  'as many tokens and merges as may be': [() => JSON.stringify(bpe(398_000, lists(240_000))), true],
  'a weighed vocabulary as large as may be': [
    () =>
      JSON.stringify({
        ...good,
        pre_tokenizer: null,
        model: { type: 'Unigram', unk_id: 0, vocab: range(399_000, (i) => [`t${i}`, -i]) },
      }),
    true,
  ],
  'two million tokens': [() => JSON.stringify(bpe(2_000_000, [])), false],
  'two million merges': [
    () =>
      JSON.stringify(
        bpe(
          0,
          range(2_000_000, (i) => `a${i} b${i}`),
        ),
      ),
    false,
  ],
  'a million objects that nobody asks for': [
    () => JSON.stringify(good).replace('{', `{"x":[${'{},'.repeat(1_300_000)}{}],`),
    false,
  ],
  'seventy megabytes of one text': [() => JSON.stringify({ ...good, x: 'x'.repeat(70e6) }), false],
};

/** The same in GGUF files. */
const LARGE_GGUF: Readonly<Record<string, [metadata: () => Record<string, GgufValue>, read: boolean]>> = {
  'as many tokens and merges as may be, in GGUF': [
    () => listed('gpt2', range(390_000, String), { merges: strings(range(240_000, (i) => `${i} ${i + 1}`)) }),
    true,
  ],
  'two million tokens, in GGUF': [() => listed('gpt2', range(1_990_000, String), {}), false],
  'two million tokens of 33 letters, in GGUF': [
    () =>
      listed(
        'gpt2',
        range(1_990_000, (i) => String(i).padStart(33, 'a')),
        {},
      ),
    false,
  ],
  'four million tokens, in GGUF': [() => listed('gpt2', range(4_000_000, String), {}), false],
  'four hundred megabytes of tokens, in GGUF': [
    () =>
      listed(
        'gpt2',
        range(390_000, (i) => String(i).padStart(1000, 'a')),
        {},
      ),
    false,
  ],
  'every word of two letters, in GGUF': [
    () => {
      const words = range(2 ** 18 - 2, (i) => (i + 2).toString(2).slice(1));
      return listed('llama', words, { scores: { type: 'i32s', value: words.map((_, id) => -id) } });
    },
    false,
  ],
};
const strings = (value: string[]): GgufValue => ({ type: 'strings', value });
const listed = (kind: string, tokens: string[], more: Record<string, GgufValue>): Record<string, GgufValue> => ({
  ...llama,
  'tokenizer.ggml.model': { type: 'string', value: kind },
  'tokenizer.ggml.tokens': strings(tokens),
  ...Object.fromEntries(Object.entries(more).map(([key, value]) => [`tokenizer.ggml.${key}`, value])),
});

test('the largest tokenizers, and larger ones, take the engine less than 400 MB', async () => {
  for (const [what, [make, isRead]] of Object.entries(LARGE))
    await tally.refused(what, async () => {
      const folder = newFolder();
      writeFileSync(join(folder, 'tokenizer.json'), make());
      await expectModest(folder, isRead);
    });
  for (const [what, [metadata, isRead]] of Object.entries(LARGE_GGUF))
    await tally.refused(what, async () => {
      const file = join(newFolder(), 'model.gguf');
      writeFileSync(file, gguf(metadata(), []));
      await expectModest(file, isRead);
    });
  tally.settle();
});

async function expectModest(path: string, isRead: boolean) {
  const script = join(import.meta.dirname, 'tokenizer-memory.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, path]);
  const { refused, grown } = JSON.parse(stdout) as { refused: string | null; grown: number };
  expect(refused === null).toBe(isRead);
  if (!isRead) expect(refused).toMatch(/^(model-broken|format)$/);
  expect(grown).toBeLessThan(MAX_GROWTH);
}
