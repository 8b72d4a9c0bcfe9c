import { LonghandError } from '../protocol/errors.ts';
import type { Tokenizer } from './tokenizer/tokenizer.ts';

//  Fill in the middle: generating the text between a prefix and a suffix. Models trained for it have three special tokens, and the text is
//  given out of order: prefix, suffix, then the missing part.

/** Tokens for prefix, suffix and middle of each family. */
const FORMS = [
  ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'], // Qwen, CodeGemma
  ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'], // StarCoder, Granite
  ['<fim-prefix>', '<fim-suffix>', '<fim-middle>'], // SantaCoder
  ['<|fim_pre|>', '<|fim_suf|>', '<|fim_mid|>'], // LFM2
  ['<|code_prefix|>', '<|code_suffix|>', '<|code_middle|>'], // GLM
  ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'], // DeepSeek
] as const;

/** @throws LonghandError `model-unsupported` if the model has no such tokens */
export function fillInIds(tokenizer: Tokenizer, prefix: string, suffix: string): number[] {
  for (const form of FORMS) {
    const [before, after, middle] = form.map((text) => tokenizer.markers.find((marker) => marker.text === text)?.id);
    if (before === undefined || after === undefined || middle === undefined) continue;
    return tokenizer.encode([
      { ids: [before] },
      { text: prefix },
      { ids: [after] },
      { text: suffix },
      { ids: [middle] },
    ]);
  }
  throw new LonghandError(
    'model-unsupported',
    '[suffix] this model cannot fill in a gap: it has no tokens that mark the text before and after one',
  );
}
