import {
  type FinishReason,
  failureOf,
  guarded,
  LonghandError,
  type LoopEvidence,
  type PauseAction,
} from '../../protocol/index.ts';
import type { Generation, TurnUpdate } from '../ipc-protocol.ts';
import { createEventCoalescer } from '../process/generation/event-coalescer.ts';
import {
  createGenerationMetrics,
  type GenerationMetrics,
  noTimings,
} from '../process/generation/generation-metrics.ts';
import { addressInfoOf } from './address.ts';
import { chatBody, type PictureUrl } from './chat-body.ts';
import { askAnswer, type Reach, type Timeouts } from './connection.ts';
import { estimatedPiece } from './estimate.ts';
import { engineError } from './failures.ts';
import { createReply, type Reply, type ReplyPart, type ReplyUsage } from './reply.ts';
import { createTags, type Tags } from './tags.ts';
import { createTextWatch, type Found, type TextWatch } from './text-watch.ts';

//  One answer of a remote engine as the events of a turn. As in the engine process, it is written in segments, a segment being one
//  request, with a decision between two of them.
//
//  segment ──ended──▶ finished
//   ├─ answer now, budget ──▶ the same question without thinking ──▶ segment
//   ├─ loop ──▶ paused, the request is held ──decide()──▶ read on, or segment from before the loop
//   └─ cancel ──▶ finished

export type RemoteAnswer = { cancel(): void; answerNow(): void; decide(choice: PauseAction): void };

export type AnswerOptions = {
  generation: Generation;
  /** Resolves address and key. @throws LonghandError if the engine was removed */
  reach: () => Promise<Reach>;
  urlOf: PictureUrl;
  report: (updates: TurnUpdate[]) => void;
  timeouts: Timeouts;
};

type Kind = 'thinking' | 'answer';
/** Why we end a segment before the engine does. */
type Halt = 'cancel' | 'close-thinking' | 'again';

class Halted extends Error {}

/** Characters of an answer. */
const MAX_TEXT = 4_000_000;
/** White space at the beginning, in characters, that is passed over. */
const MAX_BLANK = 100;
/** How long the connection may stay open after the engine's final event. */
const CLOSING_MS = 2000;

export function answerRemotely({ generation, reach, urlOf, report, timeouts }: AnswerOptions): RemoteAnswer {
  const coalescer = createEventCoalescer(report);
  const meter = createGenerationMetrics(() => null);
  const { prompt, thinkingBudget, loopGuard, softBudget } = generation;
  const question = prompt.messages.findLast(({ role }) => role === 'user')?.text ?? '';
  /** The text as shown. */
  const shown: Record<Kind, string> = {
    thinking: prompt.continuation?.thinking ?? '',
    answer: prompt.continuation?.text ?? '',
  };
  let watch: TextWatch | null = loopGuard && createTextWatch(loopGuard, question, shown);
  let segment = { kept: shown.answer, thinking: prompt.thinking && thinkingBudget.tokens !== 0, rewinds: 0 };
  let soft = softBudget ?? Number.POSITIVE_INFINITY;
  let halt: Halt | null = null;
  let over = false;
  let stop = new AbortController();
  let pause: { evidence: LoopEvidence | null; from: number; resume: () => void } | null = null;
  let started = false;
  let segments = 0;
  let blank = 0;
  const sums: ReplyUsage & { known: boolean } = { prompt: 0, cached: 0, written: 0, thinking: null, known: false };

  async function run() {
    try {
      const where = await reach();
      const asked = { host: addressInfoOf(where.address).host, key: where.key };
      while (!over) {
        halt = null;
        stop = new AbortController();
        segments++;
        const reply = createReply(asked);
        const reason = await write(where, reply);
        if (over) return;
        if (halt === 'cancel') return finish('cancelled');
        if (halt === null) return finish(reasonOf(reason), reply);
      }
    } catch (error) {
      fail(error);
    }
  }

  /** Runs one request. Returns the engine's finish reason; null if halted. */
  async function write(where: Reach, reply: Reply): Promise<string | null> {
    const tags = createTags();
    const body = await chatBody(generation, segment, urlOf);
    const at = { answer: shown.answer.length, plain: false };
    let reason: string | null = null;
    let closing: NodeJS.Timeout | undefined;
    try {
      for await (const event of askAnswer(where, body, stop.signal, timeouts)) {
        const parts = reply.read(event);
        begin(where);
        for (const part of parts) {
          if (part.type === 'end') {
            reason = part.reason;
            // Only usage figures may follow; do not wait for a server that never closes.
            closing ??= setTimeout(
              guarded(console.error, () => stop.abort(new Halted())),
              CLOSING_MS,
            );
          } else if (part.type === 'done') reason ??= 'stop';
          else await take(part, tags, at);
        }
      }
    } catch (error) {
      // We aborted this request ourselves.
      if (halt !== null && (error instanceof Halted || stop.signal.aborted)) return null;
      // The answer was already complete.
      if (reason === null || over) throw error;
    } finally {
      clearTimeout(closing);
    }
    if (halt !== null) return null;
    for (const { kind, text } of at.plain ? [] : tags.flush()) await show(kind, text);
    if (reason !== null) return reason;
    const asked = { host: addressInfoOf(where.address).host, key: where.key };
    throw engineError('engine-hung-up', asked, 'it ended its answer without saying so');
  }

  function begin({ address }: Reach) {
    if (started) return;
    started = true;
    const { host } = addressInfoOf(address);
    coalescer.say({ type: 'started', model: generation.target.modelId, backEnd: host });
  }

  async function take(part: ReplyPart, tags: Tags, at: { answer: number; plain: boolean }) {
    if (halt !== null) throw new Halted();
    if (part.type === 'calling') return coalescer.say(part);
    if (part.type === 'usage') return note(part.usage);
    if (part.type !== 'text') return;
    // A server that sends thinking separately leaves no tags in the answer.
    at.plain ||= part.kind === 'thinking';
    if (at.plain) return show(part.kind, part.text);
    const { recast, parts } = tags.push(part.text);
    if (recast) takeBack('answer', at.answer);
    if (recast && watch && loopGuard) watch = createTextWatch(loopGuard, question, shown);
    for (const one of parts) await show(one.kind, one.text);
  }

  async function show(kind: Kind, written: string) {
    // White space between thinking and answer belongs to neither; but some models write line breaks without end.
    const text = shown[kind] === '' && blank <= MAX_BLANK ? written.trimStart() : written;
    blank += written.length - text.length;
    if (text === '') return;
    shown[kind] += text;
    if (shown[kind].length > MAX_TEXT)
      throw engineError('engine-flood', { host: '', key: null }, 'its answer does not end');
    const tokens = estimatedPiece(text);
    for (let left = tokens; left > 0; left--) {
      const sample = meter.token(kind);
      if (sample) coalescer.say({ type: 'stats', sample });
    }
    coalescer.delta(kind, text, [], [], tokens);
    const found = watch?.push(text, kind) ?? null;
    if (found?.finding.degree === 'quiet') {
      const { repeats, text: quote } = found.finding;
      coalescer.say({ type: 'similar', where: kind, repeats, text: quote });
    } else if (found) await hold(found);
    else if (kind === 'thinking') await budget();
  }

  async function budget() {
    const { tokens, seconds } = thinkingBudget;
    const { thinkingTokens } = meter.usage;
    const spent = tokens !== null && segment.thinking && thinkingTokens >= tokens;
    if (spent || (seconds !== null && segment.thinking && meter.timings().thinkingMs >= seconds * 1000)) {
      halted('close-thinking');
      throw new Halted();
    }
    if (thinkingTokens >= soft) await hold(null);
  }

  function halted(why: Halt) {
    halt = why === 'cancel' ? why : (halt ?? why);
    if (why === 'close-thinking') segment = { ...segment, thinking: false };
    stop.abort(new Halted());
  }

  /** Stops reading until the user has decided; the connection stays open. */
  async function hold(found: Found | null) {
    const evidence = found && evidenceOf(found, generation.sampling.maxTokens ?? 0);
    if (evidence) coalescer.say({ type: 'loop', evidence });
    const choices = choicesIn(evidence);
    coalescer.say({
      type: 'paused',
      ...choices,
      ...(evidence ? { evidence } : { thought: meter.usage.thinkingTokens }),
    });
    await new Promise<void>((resume) => {
      pause = { evidence, from: found?.from ?? 0, resume };
    });
    if (halt !== null || over) throw new Halted();
  }

  function decide(wanted: PauseAction) {
    if (!pause || over) return;
    const { evidence, from, resume } = pause;
    pause = null;
    const { choices, suggested } = choicesIn(evidence);
    const choice = choices.includes(wanted) || wanted === 'stop' ? wanted : suggested;
    coalescer.say({ type: 'decided', choice });
    if (choice === 'stop') finish(evidence ? 'loop' : 'cancelled');
    else if (choice === 'answer-now') answerAfter(evidence, from);
    else if (choice === 'rewind' && evidence) rewind(evidence, from);
    else if (choice === 'loop-guard-off') watch = null;
    else if (evidence) watch?.goOn(evidence.repeats);
    else soft = 2 * meter.usage.thinkingTokens;
    resume();
  }

  /** Asks again without thinking. The thinking before its first repetition stays visible. */
  function answerAfter(evidence: LoopEvidence | null, from: number) {
    if (evidence) takeBack('thinking', from);
    watch = loopGuard && createTextWatch(loopGuard, question, shown);
    halted('close-thinking');
  }

  function rewind({ startToken: first }: LoopEvidence, from: number) {
    // Keep the space before the repetition: a new word follows.
    const end = shown.answer[from] === ' ' ? from + 1 : from;
    watch?.rewind(first, end);
    takeBack('answer', end);
    segment = { ...segment, kept: shown.answer, rewinds: segment.rewinds + 1 };
    halted('again');
  }

  function takeBack(kind: Kind, from: number) {
    if (shown[kind].length <= from) return;
    shown[kind] = shown[kind].slice(0, from);
    coalescer.say({ type: 'retracted', kind, from });
  }

  function note(usage: ReplyUsage) {
    // Some servers send usage with every chunk: the last one counts.
    Object.assign(sums, usage, { known: true });
  }

  function finish(reason: FinishReason, reply: Reply | null = null) {
    if (over) return;
    let calls: TurnUpdate['calls'];
    try {
      calls = reply?.calls() ?? [];
    } catch (error) {
      return fail(error);
    }
    over = true;
    stop.abort(new Halted());
    const sample = meter.short();
    if (sample) coalescer.say({ type: 'stats', sample });
    coalescer.say({ type: 'finished', reason, ...figuresOf(meter, sums, segments) }, calls.length > 0 ? { calls } : {});
  }

  function fail(error: unknown) {
    if (over) return;
    over = true;
    stop.abort(new Halted());
    const known = error instanceof LonghandError ? error : new LonghandError('internal', `[remote] ${String(error)}`);
    coalescer.say({ type: 'failed', failure: failureOf(known), ...(started && figuresOf(meter, sums, segments)) });
  }

  void run();
  return {
    cancel() {
      if (pause) finish('cancelled');
      pause?.resume();
      halted('cancel');
      if (!started) finish('cancelled');
    },
    answerNow() {
      if (segment.thinking && shown.answer === segment.kept) halted('close-thinking');
    },
    decide,
  };
}

const REASONS: Readonly<Record<string, FinishReason>> = { length: 'length', max_tokens: 'length' };
const reasonOf = (reason: string | null): FinishReason => REASONS[reason ?? ''] ?? 'stop';

/** Thinking cannot be sent as a prefix to continue from, so it cannot be rewound. */
function choicesIn(loop: LoopEvidence | null): { choices: PauseAction[]; suggested: PauseAction } {
  if (!loop) return { choices: ['answer-now', 'keep-going', 'stop'], suggested: 'answer-now' };
  if (loop.where === 'thinking')
    return { choices: ['answer-now', 'keep-going', 'loop-guard-off'], suggested: 'answer-now' };
  return { choices: ['stop', 'rewind', 'keep-going', 'loop-guard-off'], suggested: 'stop' };
}

function evidenceOf({ finding }: Found, maxTokens: number): LoopEvidence {
  const { degree: _, ...evidence } = finding;
  return { ...evidence, savedTokens: Math.max(0, maxTokens - evidence.endToken) };
}

/** The engine's figures; where it has none, what was counted here. */
function figuresOf(meter: GenerationMetrics, sums: ReplyUsage & { known: boolean }, segments: number) {
  const { usage } = meter;
  if (sums.known && segments === 1) Object.assign(usage, countedBy(usage, sums));
  else if (sums.known) Object.assign(usage, { promptTokens: sums.prompt, cachedTokens: sums.cached });
  const timings = meter.timings();
  const decodeMs = Math.max(0, timings.totalMs - timings.firstTokenMs);
  const tokens = usage.thinkingTokens + usage.answerTokens;
  const tokensPerSecond = tokens > 1 && decodeMs > 0 ? ((tokens - 1) * 1000) / decodeMs : null;
  const measured = { prefillMs: timings.firstTokenMs, decodeMs, tokensPerSecond };
  return {
    usage: { ...usage },
    timings: tokens === 0 ? { ...noTimings, totalMs: timings.totalMs } : { ...timings, ...measured },
  };
}

/** If only the sum is known, splits it between thinking and answer in proportion to what was received. */
function countedBy(seen: { thinkingTokens: number; answerTokens: number }, sums: ReplyUsage) {
  const all = seen.thinkingTokens + seen.answerTokens;
  const share = all === 0 ? 0 : seen.thinkingTokens / all;
  const told = sums.thinking !== null && (sums.thinking > 0 || seen.thinkingTokens === 0);
  const thinkingTokens = Math.min(sums.written, told ? (sums.thinking ?? 0) : Math.round(share * sums.written));
  return {
    promptTokens: sums.prompt,
    cachedTokens: sums.cached,
    thinkingTokens,
    answerTokens: sums.written - thinkingTokens,
  };
}
