import type * as Addon from '../../../native/addon/index.d.ts';
import { type Answer, recommendedSampling, singleAnswer } from '../../engine/process/generation/single-answer.ts';
import type { Sensitivity } from '../../text/loop/levels.ts';
import type { ModelText } from '../../text/model-text.ts';
import type { Part } from '../../text/thinking.ts';
import type { Context, Flags, Values } from './command.ts';
import type { Opened } from './open-model.ts';

export const SAMPLING_FLAGS = {
  'max-tokens': {
    kind: 'count',
    value: 'N',
    help: 'maximum number of tokens to write (default: as many as the context holds)',
  },
  temperature: {
    kind: 'number',
    value: 'T',
    help: '0 always picks the likeliest token (default: what the model recommends)',
  },
  'top-k': { kind: 'count', value: 'K', help: 'consider only the K likeliest tokens' },
  'top-p': { kind: 'number', value: 'P', help: 'consider only the likeliest tokens that add up to P' },
  'min-p': { kind: 'number', value: 'P', help: 'drop tokens less than P times as likely as the likeliest one' },
  'repetition-penalty': { kind: 'number', value: 'R', help: 'penalty for repeated tokens (1 = off)' },
  'presence-penalty': { kind: 'number', value: 'P', help: 'penalty for tokens that have appeared (0 = off)' },
  'frequency-penalty': { kind: 'number', value: 'F', help: 'penalty for each time a token has appeared (0 = off)' },
  seed: { kind: 'count', value: 'S', help: 'the same seed gives the same answer' },
  stop: { kind: 'texts', value: 'TEXT', help: 'stop before this text (can be repeated)' },
  context: { kind: 'count', value: 'N', help: 'context size in tokens' },
  'loop-guard': {
    kind: 'text',
    value: 'LEVEL',
    oneOf: ['off', 'relaxed', 'balanced', 'strict'],
    help: 'stop an answer that repeats itself, and report what repeated (default: off)',
  },
} as const satisfies Flags;

/** Only for commands that show the generated text. */
export const THINKING_FLAG = {
  'think-limit': {
    kind: 'count',
    value: 'N',
    help: 'tokens of thinking after which it answers; 0: it thinks as long as it takes (default: 8192, at most half of the context)',
  },
} as const satisfies Flags;

const USUAL_THINKING = 8192;
/** Thinking tokens after which the model has to answer. */
export const thinkLimitOf = (limit: number | undefined, session: Addon.Session): number =>
  limit === 0 ? Number.POSITIVE_INFINITY : (limit ?? Math.min(USUAL_THINKING, Math.floor(session.contextLength / 2)));

export type SamplingValues = Values<typeof SAMPLING_FLAGS>;

export type AnswerOptions = {
  readonly model: Opened;
  readonly text: ModelText | null;
  readonly session: Addon.Session;
  readonly prompt: readonly number[];
  readonly inThinking: boolean;
  /** The pictures in the prompt. */
  readonly pictures?: Addon.Picture[];
  readonly values: SamplingValues;
  readonly path: Addon.NumericPath | undefined;
  readonly grammar?: Partial<Addon.GenerateOptions>;
  readonly onPart: (part: Part) => void;
  /** Thinking tokens after which the model has to answer; absent: unlimited. */
  readonly thinkLimit?: number;
  /** Called when thinking with a limit begins. */
  readonly onLimit?: (limit: number) => void;
  /** Asked at the limit whether it may think as long again. Absent: it may not. */
  readonly mayThinkOn?: (thought: number) => Promise<boolean>;
};

/** One answer, token by token. Ctrl-C ends it with the text so far. */
export async function answer(context: Context, options: AnswerOptions): Promise<Answer> {
  const { model, text, session, values } = options;
  const bar = context.terminal.progress('reading');
  try {
    return await singleAnswer({
      ...options,
      addon: model.addon,
      sampling: samplingOf(values, model.native, text),
      maxTokens: values['max-tokens'] ?? session.contextLength,
      stops: values.stop,
      loopGuard: (values['loop-guard'] ?? 'off') as Sensitivity,
      signal: context.signal,
      onPrefill: bar.show,
      onTokens: bar.end,
    });
  } finally {
    bar.end();
  }
}

/** The model's recommended sampling, overridden by flags. */
function samplingOf(values: SamplingValues, native: Addon.Model, text: ModelText | null): Addon.SamplingOptions {
  const { temperature, seed } = values;
  return {
    ...recommendedSampling(native, text),
    ...(temperature !== undefined && { temperature }),
    ...(values['top-k'] !== undefined && { topK: values['top-k'] }),
    ...(values['top-p'] !== undefined && { topP: values['top-p'] }),
    ...(values['min-p'] !== undefined && { minP: values['min-p'] }),
    ...(values['repetition-penalty'] !== undefined && { repetitionPenalty: values['repetition-penalty'] }),
    ...(values['presence-penalty'] !== undefined && { presencePenalty: values['presence-penalty'] }),
    ...(values['frequency-penalty'] !== undefined && { frequencyPenalty: values['frequency-penalty'] }),
    seed: seed ?? Math.floor(Math.random() * 2 ** 31),
  };
}

export function timingsOf({ timings, tokens }: Addon.GenerateResult) {
  const { promptTokens, cachedTokens, prefillMs, decodeMs, firstTokenMs, deviceMs } = timings;
  const perSecond = tokens.length > 1 && decodeMs > 0 ? ((tokens.length - 1) * 1000) / decodeMs : null;
  return {
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    prefill_ms: prefillMs,
    first_token_ms: firstTokenMs,
    decode_ms: decodeMs,
    ...(deviceMs !== undefined && { device_ms: deviceMs }),
    tokens_per_second: perSecond,
  };
}
