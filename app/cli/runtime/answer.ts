import type * as Addon from '../../../native/addon/index.d.ts';
import { abortFlag } from '../../engine/process/addon.ts';
import { ENOUGH } from '../../engine/process/generation/loop-recovery.ts';
import { createOutputDecoder } from '../../engine/process/generation/output-decoder.ts';
import type { LoopEvidence } from '../../protocol/index.ts';
import type { Sensitivity } from '../../text/loop/levels.ts';
import { LoopGuard } from '../../text/loop/loop-detector.ts';
import type { ModelText } from '../../text/model-text.ts';
import { closingIds, type Part } from '../../text/thinking.ts';
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

export type Answer = {
  readonly text: string;
  readonly thinking: string;
  /** The generated tokens without the end token. */
  readonly tokens: number[];
  readonly finish: 'stop' | 'length' | 'cancelled' | 'context' | 'loop';
  /** The repetition, if `finish` is `loop`. */
  readonly loop: LoopEvidence | null;
  readonly result: Addon.GenerateResult;
};

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
  const { model, text, session, prompt, values, path, onPart, onLimit } = options;
  const stopIds = text?.stopIds ?? [];
  const decoder = text && createOutputDecoder(text, { inThinking: options.inThinking, stops: values.stop ?? [] });
  const said = { thinking: '', answer: '' };
  const tokens: number[] = [];
  const bar = context.terminal.progress('reading');
  const guard = new LoopGuard({ sensitivity: (values['loop-guard'] ?? 'off') as Sensitivity, inAnswers: true });
  const maxTokens = values['max-tokens'] ?? session.contextLength;
  let stopped = false;
  let loop: LoopEvidence | null = null;
  let limit = options.thinkLimit ?? Number.POSITIVE_INFINITY;
  let thought = 0;
  let long = false;
  let flag = new model.addon.AbortFlag();

  const say = (parts: readonly Part[]) => {
    for (const part of parts) {
      said[part.kind] += part.text;
      onPart(part);
    }
  };
  const take = (id: number) => {
    if (stopped || long || stopIds.includes(id)) return;
    tokens.push(id);
    if (!decoder) return;
    const place = decoder.inThinking ? 'thinking' : 'answer';
    const written = decoder.push(id);
    if (place === 'thinking' && thought === 0 && Number.isFinite(limit)) onLimit?.(limit);
    if (place === 'thinking') thought++;
    say(written.parts);
    const found = guard.push(id, written.text, place);
    if (found?.degree === 'card') {
      const { degree: _, ...evidence } = found;
      loop = { ...evidence, savedTokens: Math.max(0, maxTokens - tokens.length) };
    }
    stopped = written.stopped || loop !== null;
    long = !stopped && decoder.inThinking && thought >= limit;
    if (stopped || long) flag.set();
  };

  /** One generate call that continues from the text so far. */
  async function segment(): Promise<Addon.GenerateResult> {
    const opened = abortFlag(model.addon, context.signal);
    flag = opened.flag;
    let seen = 0;
    try {
      const result = await session.generate(Int32Array.from([...prompt, ...tokens]), {
        ...samplingOf(values, model.native, text),
        ...options.grammar,
        maxTokens: maxTokens - tokens.length,
        stopTokens: [...stopIds],
        continues: tokens.length,
        ...(options.pictures && { pictures: options.pictures }),
        ...(path && { path }),
        signal: flag,
        onPrefill: (done, total) => bar.show(done, total),
        onTokens: (events) => {
          bar.end();
          seen += events.length;
          for (const { id } of events) take(id);
        },
      });
      for (const id of result.tokens.slice(seen)) take(id);
      return result;
    } finally {
      opened.release();
    }
  }

  /** At the thinking limit: extends it, or closes the thinking in the family's own form. */
  async function thinkOn(): Promise<void> {
    long = false;
    if (await options.mayThinkOn?.(thought)) limit = 2 * thought;
    else if (text?.thinking && decoder) {
      for (const id of closingIds(text.tokenizer, text.thinking, ENOUGH)) {
        tokens.push(id);
        say(decoder.push(id).parts);
      }
    }
  }

  try {
    let result = await segment();
    while (long && !context.signal.aborted && tokens.length < maxTokens) {
      await thinkOn();
      result = joined(result, await segment());
    }
    if (decoder) say(decoder.flush());
    const finish = loop ? 'loop' : stopped ? 'stop' : result.finish;
    return { text: said.answer, thinking: said.thinking, tokens, finish, loop, result };
  } finally {
    bar.end();
  }
}

/** Merges two calls into one result: the prompt figures of the first, and all generated text. */
function joined(first: Addon.GenerateResult, second: Addon.GenerateResult): Addon.GenerateResult {
  const decodeMs = first.timings.decodeMs + second.timings.decodeMs;
  const tokens = [...first.tokens, ...second.tokens];
  return { ...first, tokens, finish: second.finish, timings: { ...first.timings, decodeMs } };
}

/** The model's recommended sampling, overridden by flags. Rows beyond the vocabulary are never sampled. */
function samplingOf(values: SamplingValues, native: Addon.Model, text: ModelText | null): Addon.SamplingOptions {
  const { temperature, seed } = values;
  const size = text?.tokenizer.size ?? native.vocabularySize;
  const padding = Math.max(0, native.vocabularySize - size);
  const forbidden = Array.from({ length: padding }, (_, i) => size + i);
  // The placeholder for pictures is never generated.
  if (native.description.vision) forbidden.push(native.description.vision.token);
  return {
    ...text?.sampling,
    ...(temperature !== undefined && { temperature }),
    ...(values['top-k'] !== undefined && { topK: values['top-k'] }),
    ...(values['top-p'] !== undefined && { topP: values['top-p'] }),
    ...(values['min-p'] !== undefined && { minP: values['min-p'] }),
    ...(values['repetition-penalty'] !== undefined && { repetitionPenalty: values['repetition-penalty'] }),
    ...(values['presence-penalty'] !== undefined && { presencePenalty: values['presence-penalty'] }),
    ...(values['frequency-penalty'] !== undefined && { frequencyPenalty: values['frequency-penalty'] }),
    seed: seed ?? Math.floor(Math.random() * 2 ** 31),
    ...(forbidden.length > 0 && { forbidden }),
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
