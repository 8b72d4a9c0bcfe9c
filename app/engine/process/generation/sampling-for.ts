import type * as Addon from '../../../../native/addon/index.d.ts';
import type { SamplingSettings } from '../../../protocol/index.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import { breakersOf, otherwise, type Rewound } from './loop-recovery.ts';

/** How tokens are chosen: as the model's makers say, as somebody wished, and after a rewind otherwise than before. Never
 *  rows of padding above the vocabulary, nor the token of pictures, which stands for what was shown. */
export function samplingFor(
  { text, native }: Pick<LoadedModel, 'text' | 'native'>,
  { maxTokens: _, ...wished }: SamplingSettings,
  { seed, rewound, written }: { seed: number; rewound: Rewound | null; written: readonly number[] },
): Addon.SamplingOptions {
  const padding = Math.max(0, native.vocabularySize - text.tokenizer.size);
  const temperature = wished.temperature ?? text.sampling.temperature ?? 0;
  const forbidden = Array.from({ length: padding }, (_, i) => text.tokenizer.size + i);
  if (text.vision) forbidden.push(text.vision.token);
  return {
    ...text.sampling,
    ...(wished as Addon.SamplingOptions),
    seed,
    ...(rewound && otherwise(rewound, temperature, breakersOf(text, written))),
    ...(forbidden.length > 0 && { forbidden }),
  };
}
