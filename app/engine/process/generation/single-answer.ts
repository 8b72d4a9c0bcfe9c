import type * as Addon from '../../../../native/addon/index.d.ts';
import type { LoopEvidence } from '../../../protocol/index.ts';
import type { Sensitivity } from '../../../text/loop/levels.ts';
import { LoopGuard } from '../../../text/loop/loop-detector.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { closingIds, type Part } from '../../../text/thinking.ts';
import { abortFlag } from '../addon.ts';
import { ENOUGH } from './loop-recovery.ts';
import { createOutputDecoder } from './output-decoder.ts';

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

export type AnswerRequest = {
  readonly addon: typeof Addon;
  readonly text: ModelText | null;
  readonly session: Addon.Session;
  readonly prompt: readonly number[];
  readonly inThinking: boolean;
  readonly sampling: Addon.SamplingOptions;
  readonly maxTokens: number;
  readonly stops?: readonly string[] | undefined;
  /** Ends an answer that repeats itself; `off` unless given. */
  readonly loopGuard?: Sensitivity;
  readonly path?: Addon.NumericPath | undefined;
  /** The pictures in the prompt. */
  readonly pictures?: Addon.Picture[] | undefined;
  readonly grammar?: Partial<Addon.GenerateOptions> | undefined;
  /** Ends it with the text so far. */
  readonly signal: AbortSignal;
  readonly onPart?: (part: Part) => void;
  /** How much of the prompt has been read. */
  readonly onPrefill?: (done: number, total: number) => void;
  /** The prompt has been read, and tokens come. */
  readonly onTokens?: () => void;
  /** Thinking tokens after which the model has to answer; absent: unlimited. */
  readonly thinkLimit?: number | undefined;
  /** Called when thinking with a limit begins. */
  readonly onLimit?: ((limit: number) => void) | undefined;
  /** Asked at the limit whether it may think as long again. Absent: it may not. */
  readonly mayThinkOn?: ((thought: number) => Promise<boolean>) | undefined;
  /** Asked after every token; what it gives is waited for before the next one. Null: go on. */
  readonly pause?: () => Promise<void> | null;
};

/** One answer of one session, token by token, where no other work waits for the model. */
export async function singleAnswer(request: AnswerRequest): Promise<Answer> {
  const { addon, text, session, prompt, maxTokens, signal, onPart, onLimit } = request;
  const stopIds = text?.stopIds ?? [];
  const decoder = text && createOutputDecoder(text, { inThinking: request.inThinking, stops: request.stops ?? [] });
  const said = { thinking: '', answer: '' };
  const tokens: number[] = [];
  const guard = new LoopGuard({ sensitivity: request.loopGuard ?? 'off', inAnswers: true });
  let stopped = false;
  let loop: LoopEvidence | null = null;
  let limit = request.thinkLimit ?? Number.POSITIVE_INFINITY;
  let thought = 0;
  let long = false;
  let cut = false;
  let held: Promise<void> | null = null;
  let flag = new addon.AbortFlag();

  const say = (parts: readonly Part[]) => {
    for (const part of parts) {
      said[part.kind] += part.text;
      onPart?.(part);
    }
  };
  const take = (id: number) => {
    if (stopped || long || stopIds.includes(id)) return;
    // What the engine was ahead by when it was told to end is not part of the answer.
    cut ||= signal.aborted;
    if (cut) return;
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
    held ??= request.pause?.() ?? null;
    if (stopped || long || held) flag.set();
  };

  /** One generate call that continues from the text so far. */
  async function segment(): Promise<Addon.GenerateResult> {
    const opened = abortFlag(addon, signal);
    flag = opened.flag;
    let seen = 0;
    try {
      const result = await session.generate(Int32Array.from([...prompt, ...tokens]), {
        ...request.sampling,
        ...request.grammar,
        maxTokens: maxTokens - tokens.length,
        stopTokens: [...stopIds],
        continues: tokens.length,
        ...(request.pictures && { pictures: request.pictures }),
        ...(request.path && { path: request.path }),
        signal: flag,
        onPrefill: (done, total) => request.onPrefill?.(done, total),
        onTokens: (events) => {
          request.onTokens?.();
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
    if (await request.mayThinkOn?.(thought)) limit = 2 * thought;
    else if (text?.thinking && decoder) {
      for (const id of closingIds(text.tokenizer, text.thinking, ENOUGH)) {
        tokens.push(id);
        say(decoder.push(id).parts);
      }
    }
  }

  /** Whether the last segment was ended to go on with another. */
  const goesOn = (finish: Answer['finish']) =>
    !stopped && (long || (held !== null && finish === 'cancelled')) && !signal.aborted && tokens.length < maxTokens;

  let result = await segment();
  while (goesOn(result.finish)) {
    if (held) await held;
    held = null;
    if (long) await thinkOn();
    result = joined(result, await segment());
  }
  if (decoder) say(decoder.flush());
  // Ended to go on, with no token left to go on with.
  const ended = result.finish === 'cancelled' && !signal.aborted ? 'length' : result.finish;
  const finish = loop ? 'loop' : stopped ? 'stop' : cut ? 'cancelled' : ended;
  return { text: said.answer, thinking: said.thinking, tokens, finish, loop, result };
}

/** Merges two calls into one result: the prompt figures of the first, and all generated text. */
function joined(first: Addon.GenerateResult, second: Addon.GenerateResult): Addon.GenerateResult {
  const decodeMs = first.timings.decodeMs + second.timings.decodeMs;
  const tokens = [...first.tokens, ...second.tokens];
  return { ...first, tokens, finish: second.finish, timings: { ...first.timings, decodeMs } };
}

/** The sampling a model recommends. Rows beyond the vocabulary, and the placeholder for pictures, are never sampled. */
export function recommendedSampling(native: Addon.Model, text: ModelText | null): Addon.SamplingOptions {
  const size = text?.tokenizer.size ?? native.vocabularySize;
  const padding = Math.max(0, native.vocabularySize - size);
  const forbidden = Array.from({ length: padding }, (_, i) => size + i);
  if (native.description.vision) forbidden.push(native.description.vision.token);
  return { ...text?.sampling, ...(forbidden.length > 0 && { forbidden }) };
}
