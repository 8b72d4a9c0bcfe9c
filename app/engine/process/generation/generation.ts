import { randomInt } from 'node:crypto';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { type FinishReason, failureOf, type LoopEvidence, type PauseAction } from '../../../protocol/index.ts';
import type { TemplateRenderer } from '../../../text/jinja/template-renderer.ts';
import type { LoopGuard } from '../../../text/loop/loop-detector.ts';
import { closingIds, openingIds } from '../../../text/thinking.ts';
import { decode } from '../../../text/tokenizer/detokenizer.ts';
import type { Generation, PromptMessage, TokenScore, TurnUpdate } from '../../ipc-protocol.ts';
import { toLonghandError } from '../addon-errors.ts';
import { boundBy } from '../model/grammars.ts';
import { boundAsJson, wasJson } from '../model/json-answer.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import type { PictureReader } from '../prompt/picture-reader.ts';
import { reuseOf } from '../prompt/prompt-reuse.ts';
import { type PromptIds, promptWithin } from '../prompt/prompt-tokens.ts';
import { createEventCoalescer } from './event-coalescer.ts';
import {
  createGenerationMetrics,
  type GenerationMetrics,
  LONG_READ,
  noTimings,
  noUsage,
} from './generation-metrics.ts';
import { choicesIn, ENOUGH, openedAt, quotedAnswer, RELAPSE, type Rewound, sentenceEnd } from './loop-recovery.ts';
import { watchFor } from './loop-watch.ts';
import { createOutputBuffer, type OutputBuffer, shownText } from './output-buffer.ts';
import { samplingFor } from './sampling-for.ts';
import { scored, type Token } from './token-score.ts';

//  One answer, written in segments: a segment is one call of the addon, and between two segments something changed what
//  comes next.
//
//  run() ──▶ segment ──ended──▶ finished
//             │ ├─ answer now, budget, stopped while thinking ──▶ thinking is closed ──▶ segment
//             │ └─ loop ──▶ paused ──decide()──▶ (rewound) ──▶ again(): run()
//             └─ cancel ──▶ finished

export type Running = {
  /** Generates until the end or until a decision is needed. */
  run(model: LoadedModel): Promise<void>;
  fail(error: unknown): void;
  /** Whether it has ended, possibly while still queued. */
  over(): boolean;
  /** The whole answer once it has ended normally; null if it failed or has not begun. */
  answer(): PromptMessage | null;
  cancel(): void;
  answerNow(): void;
  decide(choice: PauseAction): void;
};

export type RunningOptions = {
  addon: typeof Addon;
  renderer: TemplateRenderer;
  pictures: PictureReader;
  generation: Generation;
  report: (updates: TurnUpdate[]) => void;
  /** The user has decided: schedule another `run`. */
  again: () => void;
};

type Halt = 'cancel' | 'stop' | 'close-thinking' | 'loop' | 'relapse' | 'long';
type State = 'waiting' | 'running' | 'paused' | 'over';

type Written = {
  prompt: PromptIds;
  promptOnly: number[];
  pictures: Addon.Picture[];
  transcript: OutputBuffer;
  meter: GenerationMetrics;
  bound: Partial<Addon.GenerateOptions>;
  maxTokens: number;
  /** The finish reason at `maxTokens`: the requested length, or the context is full. */
  atMost: 'length' | 'context';
};

export function runGeneration({ addon, renderer, pictures, generation, report, again }: RunningOptions): Running {
  const coalescer = createEventCoalescer(report);
  let state: State = 'waiting';
  let halt: Halt | null = null;
  let flag: Addon.AbortFlag | null = null;
  let written: Written | null = null;
  let evidence: LoopEvidence | null = null;
  let watch: LoopGuard | null = null;
  /** Answer tokens that the loop detector did not see: an earlier part, and those that closed the thinking. */
  let unseen = 0;
  let seed = generation.sampling.seed ?? randomInt(2 ** 31);
  let rewound: Rewound | null = null;
  let soft = generation.softBudget ?? Number.POSITIVE_INFINITY;
  /** Tokens that were generated and retracted: they do not count towards the limits. */
  const givenBack = { thinking: 0, answer: 0 };
  /** After "answer now": where the thinking was cut, and where the answer began, which is watched for a relapse. */
  let cutAt: LoopEvidence | null = null;
  let relapse: { begin: number; thinkingEnd: number } | null = null;
  let stopped = 0; // cut off in its thinking, so there is no answer
  /** Tokens whose text is being held back. */
  let silent: number[] = [];
  /** Log-probabilities that are not reported yet. */
  let scores: TokenScore[] = [];
  /** The text as shown; null after a failure. */
  let said: { thinking: string; text: string } | null = {
    thinking: generation.prompt.continuation?.thinking ?? '',
    text: generation.prompt.continuation?.text ?? '',
  };

  function stopLeg(why: Halt) {
    if (halt !== 'cancel') halt = halt === null || why === 'cancel' ? why : halt;
    flag?.set();
  }

  async function run(model: LoadedModel) {
    if (state === 'over') return;
    state = 'running';
    const sessions = model.sessions(generation.priority);
    let session: Addon.Session | null = null;
    try {
      written ??= await begin(model);
      session = sessions.take(generation.chatId ?? generation.turnId);
      while ((state as State) === 'running') await generateSegment(model, session, written);
    } catch (error) {
      fail(error);
    } finally {
      if (session) sessions.giveBack(session);
    }
  }

  async function begin(model: LoadedModel): Promise<Written> {
    const meter = createGenerationMetrics(model.memoryBytes);
    const limit = model.contextLength(generation.priority);
    const prompt = await promptWithin(model.text, renderer, generation.prompt, limit);
    const bound = await boundBy(model, generation, prompt.inThinking);
    const { continuation } = generation.prompt;
    const room = limit - prompt.ids.length;
    const seen = model.text.vision ? await pictures.read(prompt.pictures, model.text.vision.preprocessor) : [];
    watch = watchFor(generation, model);
    const transcript = createOutputBuffer({
      ...shownText(model.text, generation.prompt),
      inThinking: prompt.inThinking,
      stops: generation.stops,
      continuation: {
        ids: prompt.continuation,
        shown: { thinking: continuation?.thinking.length ?? 0, answer: continuation?.text.length ?? 0 },
      },
    });
    coalescer.say({ type: 'started', model: generation.target.modelId, backEnd: model.native.device.backEnd });
    return {
      prompt,
      promptOnly: prompt.ids.slice(0, prompt.ids.length - prompt.continuation.length),
      pictures: seen,
      transcript,
      meter,
      bound,
      maxTokens: Math.min(generation.sampling.maxTokens ?? room, room),
      atMost: (generation.sampling.maxTokens ?? room) < room ? 'length' : 'context',
    };
  }

  async function generateSegment(
    model: LoadedModel,
    session: Addon.Session,
    { prompt, promptOnly, pictures: shown, transcript, meter, bound, maxTokens, atMost }: Written,
  ) {
    if (cutAt) answerAfter(cutAt, model.text);
    cutAt = null;
    const left = maxTokens - spent(meter);
    if (overBudget(transcript, meter)) halt ??= 'close-thinking';
    if (halt !== null) return between(model, null);
    if (left <= 0) return finish(atMost);

    flag = new addon.AbortFlag();
    let open = true;
    let seen = 0;
    const take = (event: Token) => {
      seen++;
      if (open && halt === null) token(event, model);
    };
    const asked = Int32Array.from([...promptOnly, ...transcript.ids]);
    const result = await session.generate(asked, {
      ...samplingFor(model, generation, { seed, rewound, written: transcript.ids }),
      ...(rewound?.json && !generation.grammar ? await boundAsJson(model, generation, prompt.inThinking) : bound),
      // The token's own log-probability is only returned along with alternatives.
      ...(generation.logprobs != null && { logprobs: Math.max(1, generation.logprobs) }),
      maxTokens: left,
      stopTokens: [...model.text.stopIds],
      signal: flag,
      continues: transcript.ids.length,
      cachePrompt: generation.priority !== 'title',
      owner: generation.chatId ?? '',
      pictures: shown,
      onPrefill: prefill,
      onTokens: (events) => {
        for (const event of events) take(event);
      },
    });
    for (const id of result.tokens.slice(seen)) take({ id });
    open = false;
    flag = null;
    meter.addSegment(result, reuseOf(result.reuse, asked, model.text.decode));
    between(model, result.finish === 'length' ? atMost : result.finish);
  }

  function prefill(done: number, total: number, cached: number) {
    if (!written) return;
    // Between two segments nothing is prefilled again, unless a rewind found no snapshot: then it is slow.
    const goesOn = written.transcript.ids.length > written.prompt.continuation.length;
    if (goesOn && total - cached < LONG_READ) return;
    const sample = written.meter.prefill(done, total, cached);
    coalescer.say({ type: 'progress', done, total, cached });
    if (sample) coalescer.say({ type: 'stats', sample });
  }

  function token(event: Token, model: LoadedModel) {
    const { id } = event;
    if (!written || model.text.stopIds.includes(id)) return;
    const { transcript, meter } = written;
    const { parts, text, place, stopped: atStop } = transcript.push(id);
    const sample = meter.token(place);
    silent.push(id);
    const { logprobs = null } = generation;
    if (place === 'answer' && !transcript.inThinking) scores.push(...scored(model.text.tokenizer, event, logprobs));
    show(parts);
    if (sample) coalescer.say({ type: 'stats', sample });
    if (atStop) stopLeg('stop');
    else if (overBudget(transcript, meter)) stopLeg('close-thinking');
    else if (transcript.inThinking && thought(meter) >= soft) stopLeg('long');
    else look(id, text, place);
  }

  function show(parts: readonly { kind: 'thinking' | 'answer'; text: string }[]) {
    for (const { kind, text } of parts) {
      coalescer.delta(kind, text, silent, kind === 'answer' ? scores : []);
      silent = [];
      if (kind === 'answer') scores = [];
      if (said) said[kind === 'thinking' ? 'thinking' : 'text'] += text;
    }
  }

  function look(id: number, text: string, place: 'thinking' | 'answer') {
    const found = watch?.push(id, text, place);
    if (!found || !written) return;
    const { degree, ...rest } = found;
    if (degree === 'quiet')
      return coalescer.say({ type: 'similar', where: place, repeats: found.repeats, text: found.text });
    const { meter, transcript, maxTokens } = written;
    if (relapse && transcript.ids.length - relapse.begin <= RELAPSE) return stopLeg('relapse');
    const savedTokens = Math.max(0, maxTokens - spent(meter));
    unseen = transcript.ids.length - 1 - found.endToken;
    evidence = { ...rest, startToken: found.startToken + unseen, endToken: found.endToken + unseen, savedTokens };
    stopLeg('loop');
  }

  const spent = ({ usage }: GenerationMetrics) =>
    usage.thinkingTokens + usage.answerTokens - givenBack.thinking - givenBack.answer;

  const thought = ({ usage }: GenerationMetrics) => usage.thinkingTokens - givenBack.thinking;

  function overBudget(transcript: OutputBuffer, meter: GenerationMetrics): boolean {
    const { tokens, seconds } = generation.thinkingBudget;
    if (!transcript.inThinking) return false;
    if (tokens !== null && thought(meter) >= tokens) return true;
    return seconds !== null && meter.usage.thinkingTokens > 0 && meter.timings().thinkingMs >= seconds * 1000;
  }

  /** Decides what follows a segment. */
  function between(model: LoadedModel, ended: Addon.GenerateResult['finish'] | null) {
    const why = halt;
    halt = null;
    if (why === 'cancel' || why === 'stop') return finish(why === 'stop' ? 'stop' : 'cancelled');
    if (why === 'loop' || why === 'long') return pause();
    if (why === 'relapse') return answerForIt(model);
    if (why === 'close-thinking' && written?.transcript.inThinking) return closeThinking(model);
    if (why === 'close-thinking' && ended === 'cancelled') return;
    if (ended === 'stop' && written?.transcript.inThinking && stopped++ === 0) return closeThinking(model);
    if (ended !== null) finish(ended);
  }

  function closeThinking({ text }: LoadedModel) {
    if (!written || !text.thinking) return;
    for (const id of closingIds(text.tokenizer, text.thinking, relapse ? ENOUGH : '')) {
      const { parts } = written.transcript.push(id);
      silent.push(id);
      show(parts);
    }
    written.meter.thinkingEnded();
    if (relapse) relapse.begin = written.transcript.ids.length;
  }

  /** The answer relapsed into the loop of the thinking: it is replaced by the last conclusion of the thinking. */
  function answerForIt({ text }: LoadedModel) {
    if (!written || !relapse) return;
    const { transcript } = written;
    const thinking = decode(text.tokenizer, transcript.ids.slice(0, relapse.thinkingEnd));
    takeBack(relapse.begin);
    for (const id of text.tokenizer.encodeText(quotedAnswer(thinking))) {
      const { parts } = transcript.push(id);
      silent.push(id);
      show(parts);
    }
    relapse = null;
    finish('loop');
  }

  function pause() {
    if (!written) return;
    if (evidence) coalescer.say({ type: 'loop', evidence });
    state = 'paused';
    const why = evidence ? { evidence } : { thought: thought(written.meter) };
    coalescer.say({ type: 'paused', ...choicesIn(evidence), ...why });
  }

  function decide(choice: PauseAction) {
    if (state !== 'paused' || !written) return;
    coalescer.say({ type: 'decided', choice });
    const { where } = evidence ?? {};
    if (choice === 'stop' || (choice === 'answer-now' && where === 'answer'))
      return finish(evidence ? 'loop' : 'cancelled');
    if (!evidence) soft = 2 * thought(written.meter);
    if (!evidence && choice !== 'keep-going') halt = 'close-thinking';
    else if (choice === 'answer-now') cutAt = evidence;
    else if (choice === 'rewind' && evidence) rewind(evidence);
    else if (choice === 'loop-guard-off') watch = null;
    else if (choice === 'keep-going' && evidence) watch?.act(evidence.repeats);
    evidence = null;
    state = 'waiting';
    again();
  }

  /** Cuts the thinking before its first repetition, so that the answer does not continue it. */
  function answerAfter({ startToken: first }: LoopEvidence, text: LoadedModel['text']) {
    if (!written) return;
    const { prompt, transcript } = written;
    const { thinking, tokenizer } = text;
    const opened = prompt.inThinking || !thinking ? 0 : openedAt(transcript.ids, openingIds(tokenizer, thinking));
    const end = sentenceEnd(text, transcript.ids, opened, Math.max(first, opened));
    watch?.remember(end - unseen);
    takeBack(end);
    relapse = { begin: end, thinkingEnd: end };
    seed = (seed + 1) % 2 ** 31;
    halt = 'close-thinking';
  }

  /** Rewinds to before the first repetition and continues with different sampling. */
  function rewind({ startToken: first, kind, where }: LoopEvidence, whole = said?.text ?? '') {
    if (!written) return;
    takeBack(first);
    watch?.rewind(first - unseen);
    seed = (seed + 1) % 2 ** 31;
    rewound = { times: (rewound?.times ?? 0) + 1, kind, json: where === 'answer' && wasJson(whole, said?.text ?? '') };
  }

  /** Discards tokens from `length` on: on screen, on disk and for the limits. */
  function takeBack(length: number) {
    if (!written) return;
    const { transcript } = written;
    givenBack[transcript.inThinking ? 'thinking' : 'answer'] += Math.max(0, transcript.ids.length - length);
    const shorter = transcript.cut(length);
    silent = [];
    for (const { kind, from } of shorter) {
      coalescer.say({ type: 'retracted', kind, from }, { keptIds: transcript.ids.length });
      const field = kind === 'thinking' ? 'thinking' : 'text';
      if (said) said[field] = said[field].slice(0, from);
    }
  }

  function finish(reason: FinishReason) {
    if (state === 'over') return;
    state = 'over';
    if (written) show(written.transcript.flush());
    const sample = written?.meter.short();
    if (sample) coalescer.say({ type: 'stats', sample });
    const made = { usage: { ...noUsage }, timings: noTimings, ...figures() };
    coalescer.say({ type: 'finished', reason, ...made }, { ids: silent, stop: written?.transcript.stoppedBy ?? null });
  }

  function fail(error: unknown) {
    if (state === 'over') return;
    state = 'over';
    said = null;
    coalescer.say({ type: 'failed', failure: failureOf(toLonghandError(error)), ...figures() }, { ids: silent });
  }

  const figures = () => (written ? { usage: { ...written.meter.usage }, timings: written.meter.timings() } : {});

  return {
    run,
    fail,
    over: () => state === 'over',
    answer: () =>
      state === 'over' && said && written && written.transcript.ids.length > 0
        ? { role: 'assistant', ...said, ids: [...written.transcript.ids] }
        : null,
    cancel() {
      if (state === 'running') stopLeg('cancel');
      else finish('cancelled');
    },
    answerNow() {
      if (state === 'running' && written?.transcript.inThinking) stopLeg('close-thinking');
    },
    decide,
  };
}
