import type * as Addon from '../../../../native/addon/index.d.ts';
import type { Exemplar, Generation, LogitBias } from '../../ipc-protocol.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import { breakersOf, otherwise, type Rewound } from './loop-recovery.ts';

/** Sampling of an answer: the model's defaults, the user's settings or those of a request, and changes after a rewind. Never
 *  samples padding rows beyond the vocabulary, or the placeholder token of pictures. */
export function samplingFor(
  { text, native }: Pick<LoadedModel, 'text' | 'native'>,
  { sampling, bias = null, exemplars = [] }: Pick<Generation, 'sampling' | 'bias' | 'exemplars'>,
  { seed, rewound, written }: { seed: number; rewound: Rewound | null; written: readonly number[] },
): Addon.SamplingOptions {
  const { maxTokens: _, ...wished } = sampling;
  const padding = Math.max(0, native.vocabularySize - text.tokenizer.size);
  const temperature = wished.temperature ?? text.sampling.temperature ?? 0;
  const forbidden = Array.from({ length: padding }, (_, i) => text.tokenizer.size + i);
  if (text.vision) forbidden.push(text.vision.token);
  return {
    ...text.sampling,
    ...(wished as Addon.SamplingOptions),
    seed,
    ...(bias && { bias: inVocabulary(bias, native.vocabularySize) }),
    // What an answer went in circles with leads it no further.
    ...(exemplars.length > 0 && !rewound && { exemplars: exemplars.map((one) => encoded(one, text)) }),
    ...(rewound && otherwise(rewound, temperature, breakersOf(text, written))),
    ...(forbidden.length > 0 && { forbidden }),
  };
}

/** An answer that has followed it to its end may end. */
const encoded = ({ text, weight }: Exemplar, { tokenizer, stopIds }: LoadedModel['text']) => ({
  tokens: [...tokenizer.encodeText(text, false), ...stopIds.slice(0, 1)],
  weight,
});

function inVocabulary({ tokens, values }: LogitBias, size: number): LogitBias {
  const known = [...tokens.keys()].filter((at) => (tokens[at] ?? size) < size);
  return { tokens: known.map((at) => tokens[at] ?? 0), values: known.map((at) => values[at] ?? 0) };
}
