import type { StatsSample, Timings, TurnEvent, Usage } from '../../protocol/index.ts';

/** Counts a turn as it goes, so that figures are right even if the engine is lost, and adds them to those of the earlier part of the
 *  answer. */
export type UsageTracker = {
  see(event: TurnEvent): void;
  /** The engine's own figures if it sent them, else what was counted. Both include the earlier part. */
  figures(sent: { usage?: Usage | undefined; timings?: Timings | undefined }): { usage: Usage; timings: Timings };
  /** The sample, shifted to the clock of the whole message. */
  shifted(sample: StatsSample): StatsSample;
};

/** The figures of the earlier part of an answer. */
export type Figures = { usage: Usage | null; timings: Timings | null };

export function createUsageTracker(earlier: Figures | null, now: () => number = () => performance.now()): UsageTracker {
  const begin = now();
  const seen: Usage = { promptTokens: 0, cachedTokens: 0, thinkingTokens: 0, answerTokens: 0 };
  const offset = earlier?.timings?.totalMs ?? 0;
  let firstToken: number | null = null;
  let lastToken = begin;
  let thinkingEnd = begin;

  function seenTimings(): Timings {
    const decodeMs = firstToken === null ? 0 : lastToken - firstToken;
    const firstTokenMs = (firstToken ?? now()) - begin;
    return {
      firstTokenMs,
      prefillMs: firstTokenMs,
      decodeMs,
      thinkingMs: seen.thinkingTokens > 0 ? thinkingEnd - (firstToken ?? begin) : 0,
      totalMs: now() - begin,
      tokensPerSecond: speed(seen.thinkingTokens + seen.answerTokens, decodeMs),
    };
  }

  return {
    see(event) {
      if (event.type === 'progress') {
        seen.promptTokens = event.total;
        seen.cachedTokens = event.cached;
      } else if (event.type === 'delta') {
        firstToken ??= now();
        lastToken = now();
        seen[event.kind === 'thinking' ? 'thinkingTokens' : 'answerTokens'] += event.tokens;
        if (event.kind === 'thinking') thinkingEnd = lastToken;
      }
    },
    figures({ usage = seen, timings = seenTimings() }) {
      return {
        usage: earlier?.usage ? joinUsage(earlier.usage, usage) : usage,
        timings: earlier?.timings ? joinTimings(earlier, timings, usage) : timings,
      };
    },
    shifted: (sample) => ({ ...sample, atMs: sample.atMs + offset }),
  };
}

/** Decode speed only: the first token belongs to prefill. */
const speed = (tokens: number, decodeMs: number): number | null =>
  tokens < 2 || decodeMs <= 0 ? null : ((tokens - 1) * 1000) / decodeMs;

const joinUsage = (a: Usage, b: Usage): Usage => ({
  promptTokens: b.promptTokens,
  cachedTokens: b.cachedTokens,
  thinkingTokens: a.thinkingTokens + b.thinkingTokens,
  answerTokens: a.answerTokens + b.answerTokens,
});

function joinTimings(earlier: Figures, timings: Timings, usage: Usage): Timings {
  const before = earlier.timings as Timings;
  const decodeMs = before.decodeMs + timings.decodeMs;
  const tokens =
    (earlier.usage?.thinkingTokens ?? 0) +
    (earlier.usage?.answerTokens ?? 0) +
    usage.thinkingTokens +
    usage.answerTokens;
  return {
    firstTokenMs: before.firstTokenMs,
    prefillMs: before.prefillMs + timings.prefillMs,
    decodeMs,
    thinkingMs: before.thinkingMs + timings.thinkingMs,
    totalMs: before.totalMs + timings.totalMs,
    ...((before.deviceMs ?? timings.deviceMs) !== undefined && {
      deviceMs: (before.deviceMs ?? 0) + (timings.deviceMs ?? 0),
    }),
    tokensPerSecond: speed(tokens, decodeMs),
  };
}
