import type * as Addon from '../../../../native/addon/index.d.ts';
import type { LoopEvidence } from '../../../protocol/index.ts';
import { isProse } from '../../../text/loop/text-kind.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { decode } from '../../../text/tokenizer/detokenizer.ts';

//  Where a rewind goes to, and how generation changes after it, so that the loop does not return.

/** Structural characters of data and code: their recurrence does not count as repetition. */
const structural = /[\n":,;{}[\]()<>|*&=\\`]/;
/** Tokens; each further rewind wants four times as many. */
const LITTLE = 150;
/** Characters examined to classify the text. */
const LOOKED_AT = 800;
const WINDOW = 1024;
/** The rewound loops: how many, the kind of the last one, how many tokens it left, and whether it was inside JSON. */
export type Rewound = Readonly<{ times: number; kind: LoopEvidence['kind']; left: number; json: boolean }>;

/** The next rewind. It leaves the tokens before the loop, or, where little would be left, only those before the answer or thinking
 *  that loops (`begin`): what leads to an early loop is often poor already, and so is what follows it. */
export function nextRewind(before: Rewound | null, { startToken, kind }: LoopEvidence, begin: number): Rewound {
  const times = (before?.times ?? 0) + 1;
  const little = startToken - begin < LITTLE * 4 ** (times - 1);
  return { times, kind, left: little ? Math.min(begin, startToken) : startToken, json: false };
}

/** Sampling after a rewind: a new seed changes nothing at temperature 0, and repeated text must be penalised. Each further
 *  rewind deviates more. An exhausted list repeats single words between numbers, which a phrase penalty
 *  (DRY) misses: there, every used word is penalised. */
export function otherwise(
  { times, kind }: Pick<Rewound, 'times' | 'kind'>,
  temperature: number,
  { structured, breakers }: Breakers,
): Addon.SamplingOptions {
  if (kind === 'entries')
    return { temperature: Math.max(temperature, times > 1 ? 1 : 0.8), presencePenalty: 0.8, penaltyWindow: WINDOW };
  return {
    temperature: Math.max(temperature, times > 1 ? 0.9 : 0.6),
    dry: { multiplier: 0.8, base: 1.75, allowedLength: structured ? 4 : 3, window: WINDOW, breakers: [...breakers] },
  };
}

export type Breakers = { readonly structured: boolean; readonly breakers: readonly number[] };

/** DRY breakers among the tokens so far: line ends, and in JSON, code and tables also brackets, quotes and
 *  separators too. */
export function breakersOf({ tokenizer }: ModelText, ids: readonly number[]): Breakers {
  const recent = ids.slice(-WINDOW);
  const structured = isStructured(decode(tokenizer, recent).slice(-LOOKED_AT));
  const breaks = structured ? structural : /\n/;
  const breakers = [...new Set(recent)].filter((id) =>
    breaks.test(Buffer.from(tokenizer.bytes.of(id)).toString('utf8')),
  );
  return { structured, breakers };
}

function isStructured(text: string): boolean {
  const fences = text.match(/^```/gm)?.length ?? 0;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (fences % 2 === 1 || /^\s*[[{]/.test(text)) return true;
  return lines.length > 0 && lines.filter((line) => !isProse(line)).length > lines.length / 2;
}
