import type { GenerateResult } from '../../../../native/addon/index.d.ts';
import type { StatsSample, Timings, Usage } from '../../../protocol/index.ts';

const sampleMs = 100;

/** The clocks and counters of one turn. A turn may be several calls of `generate`; pauses between them do not count. */
export type GenerationMetrics = {
  prefill(done: number, total: number, cached: number): StatsSample | null;
  token(kind: 'thinking' | 'answer'): StatsSample | null;
  thinkingEnded(): void;
  /** The only sample of an answer that ended before the first was due; null for longer answers and single tokens. */
  short(): StatsSample | null;
  /** Adds the figures of one call. */
  addSegment(result: GenerateResult, reuse?: Pick<Usage, 'miss' | 'differs'>): void;
  readonly usage: Usage;
  timings(): Timings;
};

/** A monotonic clock: continues from its last value if the underlying clock is set back. */
export function forwardOnly(read: () => number): () => number {
  let last = read();
  let passed = 0;
  return () => {
    const at = read();
    passed += Math.max(0, at - last);
    last = at;
    return passed;
  };
}

export function createGenerationMetrics(
  memoryBytes: () => number | null,
  clock: () => number = () => performance.now(),
): GenerationMetrics {
  /** From the beginning on. */
  const now = forwardOnly(clock);
  const usage: Usage = { promptTokens: 0, cachedTokens: 0, thinkingTokens: 0, answerTokens: 0 };
  const sums = { prefillMs: 0, decodeMs: 0, tokens: 0, segments: 0 };
  let deviceMs: number | undefined;
  let firstTokenMs: number | null = null;
  let thinkingMs = 0;
  let last = { at: 0, tokens: 0, prefilled: 0 };
  let newest: { kind: 'thinking' | 'answer'; at: number } | null = null;
  let sampled = false;

  const generated = () => usage.thinkingTokens + usage.answerTokens;

  function sample(phase: StatsSample['phase'], count: number, since: number): StatsSample | null {
    const at = now();
    if (at - last.at < sampleMs) return null;
    const tokensPerSecond = count > since ? ((count - since) * 1000) / (at - last.at) : null;
    return { atMs: at, phase, tokensPerSecond, tokens: generated(), memoryBytes: memoryBytes() };
  }

  return {
    prefill(done, total, cached) {
      if (sums.segments > 0) return null;
      usage.promptTokens = total;
      usage.cachedTokens = cached;
      const made = sample('prefill', done - cached, last.prefilled);
      if (made) last = { at: now(), tokens: generated(), prefilled: done - cached };
      return made;
    },
    token(kind) {
      usage[kind === 'thinking' ? 'thinkingTokens' : 'answerTokens']++;
      if (firstTokenMs === null) {
        firstTokenMs = now();
        // Speed is measured from the first token.
        last = { ...last, at: now(), tokens: generated() };
        return null;
      }
      if (kind === 'thinking') thinkingMs = now() - firstTokenMs;
      newest = { kind, at: now() };
      const made = sample(kind, generated(), last.tokens);
      if (made) last = { ...last, at: now(), tokens: generated() };
      sampled ||= made !== null;
      return made;
    },
    short() {
      if (sampled || newest === null || newest.at <= last.at) return null;
      const tokensPerSecond = ((generated() - last.tokens) * 1000) / (newest.at - last.at);
      return {
        atMs: newest.at,
        phase: newest.kind,
        tokensPerSecond,
        tokens: generated(),
        memoryBytes: memoryBytes(),
      };
    },
    thinkingEnded() {
      if (firstTokenMs !== null) thinkingMs = now() - firstTokenMs;
    },
    addSegment({ timings, tokens }, reuse = {}) {
      if (sums.segments === 0) {
        usage.promptTokens = timings.promptTokens;
        usage.cachedTokens = timings.cachedTokens;
        Object.assign(usage, reuse);
      }
      sums.segments++;
      sums.prefillMs += timings.prefillMs;
      sums.decodeMs += timings.decodeMs;
      if (timings.deviceMs !== undefined) deviceMs = (deviceMs ?? 0) + timings.deviceMs;
      sums.tokens += Math.max(0, tokens.length - 1);
    },
    usage,
    timings: () => ({
      firstTokenMs: firstTokenMs ?? now(),
      prefillMs: sums.prefillMs,
      decodeMs: sums.decodeMs,
      thinkingMs: usage.thinkingTokens > 0 ? thinkingMs : 0,
      totalMs: now(),
      ...(deviceMs !== undefined && { deviceMs }),
      tokensPerSecond: sums.tokens > 0 && sums.decodeMs > 0 ? (sums.tokens * 1000) / sums.decodeMs : null,
    }),
  };
}

/** Shorter prefills are too fast to report. */
export const LONG_READ = 64;

/** Usage of an answer that never started. */
export const noUsage = { promptTokens: 0, cachedTokens: 0, thinkingTokens: 0, answerTokens: 0 };
export const noTimings = {
  firstTokenMs: 0,
  prefillMs: 0,
  decodeMs: 0,
  thinkingMs: 0,
  totalMs: 0,
  tokensPerSecond: null,
};
