import { Tokenizer as Library } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTokenizer } from '../../../../app/text/tokenizer/tokenizer.ts';
import { fuzzed } from '../../../support/soak.ts';

type Encoder = new (json: object, config: object) => { encode(text: string, how: object): { ids: number[] } };

test('a vocabulary whose every way is weighed reads as the library reads it (fuzz)', () => {
  const letters = ['a', 'b', '▁', '漢', '😀'];
  const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 4 });
  const vocabulary = fc.uniqueArray(fc.tuple(word, fc.integer({ min: -9, max: 0 })), {
    selector: ([text]) => text,
    maxLength: 20,
  });
  fc.assert(
    fc.property(vocabulary, fc.string({ unit: fc.constantFrom(...letters, 'x'), maxLength: 20 }), (entries, text) => {
      const json = {
        normalizer: null,
        pre_tokenizer: null,
        post_processor: null,
        decoder: null,
        added_tokens: [],
        model: { type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0], ...entries] },
      };
      const library = new (Library as unknown as Encoder)(json, {});
      expect(createTokenizer(json).encodeText(text)).toEqual(library.encode(text, { add_special_tokens: false }).ids);
    }),
    fuzzed(500),
  );
});
